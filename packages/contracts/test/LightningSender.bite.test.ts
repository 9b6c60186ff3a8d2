import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningSender, type NotSent, type Payment } from "@satrail/core/nodes/LightningSender"
import { Effect, Queue, Stream } from "effect"
import { promises } from "../src/nodes/LightningSender.ts"
import { bites, sabotage } from "./sandbox.ts"

type Looked = Payment | NotSent | { readonly _tag: "notFound" }

/** A mutant that interprets the node's responses differently. */
const taking = (understand: <A extends Looked>(said: A) => A | Payment) =>
  sabotage(LightningSender, ({ lookupPayment, pay }) => ({
    pay: (ask) => Effect.map(pay(ask), understand),
    lookupPayment: (hash) =>
      Effect.map(lookupPayment(hash), (said) => understand<Exclude<Looked, NotSent>>(said))
  }))

const failed = { _tag: "failed", reason: "timeout" } as const

bites("LightningSender", promises, {
  "a sender without a fee limit": [
    sabotage(LightningSender, ({ pay }) => ({ pay: (ask) => pay({ ...ask, feeLimit: ask.amount }) })),
    [
      "C25 C26 C28 C38: nothing is sent if the fee limit is one millisatoshi below the fee of the cheapest route",
      "C25 C26: if the fee limit is 0, no fee is paid"
    ]
  ],
  "a sender that treats the fee limit's millisatoshis as satoshis": [
    sabotage(LightningSender, ({ pay }) => ({
      pay: (ask) => pay({ ...ask, feeLimit: Msat.make(ask.feeLimit * 1000n) })
    })),
    [
      "C25 C26 C28 C38: nothing is sent if the fee limit is one millisatoshi below the fee of the cheapest route"
    ]
  ],
  "a sender that reports an outage as a failure": [
    taking((said) => (said._tag === "unknown" ? failed : said)),
    [
      "C2: a node that does not respond leaves a payment unknown, not failed",
      "C6: a settled payment is reported as unknown while its state cannot be read, and as settled afterward"
    ]
  ],
  "a sender that reports an outage as not found": [
    sabotage(LightningSender, ({ lookupPayment }) => ({
      lookupPayment: (hash) =>
        Effect.map(lookupPayment(hash), (said): Exclude<Looked, NotSent> =>
          said._tag === "unknown" ? { _tag: "notFound" } : said
        )
    })),
    [
      "C2: a node that does not respond leaves a payment unknown, not failed",
      "C6: a settled payment is reported as unknown while its state cannot be read, and as settled afterward"
    ]
  ],
  "a sender that reports a sent payment as not sent": [
    sabotage(LightningSender, ({ pay }) => ({ pay: (ask) => Effect.as(pay(ask), { _tag: "notSent" }) })),
    [
      "C3: a payment reported as not sent was not sent: it is not found, the payee received nothing, and repeating the call pays once"
    ]
  ],
  "a sender that fails held payments after a timeout": [
    taking((said) => (said._tag === "pending" ? failed : said)),
    [
      "C1: a held payment is pending, is not sent again, and can still settle",
      "C1: a held payment can still fail, and then nothing was paid"
    ]
  ],
  "a sender that reports held payments as settled": [
    taking((said) =>
      said._tag === "pending"
        ? { _tag: "settled", preimage: Preimage.make("00".repeat(32)), fee: Msat.zero, index: null }
        : said
    ),
    ["C1: a held payment is pending, is not sent again, and can still settle"]
  ],
  "a sender that reports a repeated call as failed": [
    sabotage(LightningSender, ({ pay }) => {
      const seen = new Set<string>()
      return {
        pay: (ask) =>
          Effect.suspend((): Effect.Effect<Payment | NotSent> => {
            const again = seen.has(ask.invoice.paymentHash)
            seen.add(ask.invoice.paymentHash)
            return again ? Effect.succeed(failed) : pay(ask)
          })
      }
    }),
    [
      "C11: repeated calls with the same payment hash pay once",
      "C11: eight concurrent calls with the same payment hash pay once",
      "C1: a held payment is pending, is not sent again, and can still settle"
    ]
  ],
  "a sender that reports an unknown payment as failed": [
    taking((said) => (said._tag === "notFound" ? failed : said)),
    [
      "C8: a payment that was never sent is not found",
      "a quote is within the limit, states the probability of success and sends nothing"
    ]
  ],
  "a sender that omits the failure reason": [
    taking((said) => (said._tag === "failed" ? { _tag: "failed", reason: "error" } : said)),
    [
      "a payment that the payee rejects is reported as failed by every call",
      "a payment that has no route fails with that reason"
    ]
  ],
  "a sender that reports failed payments as pending": [
    taking((said) => (said._tag === "failed" ? { _tag: "pending" } : said)),
    [
      "a payment that the payee rejects is reported as failed by every call",
      "C25 C26: if the fee limit is 0, no fee is paid"
    ]
  ],
  "a sender that returns an invalid preimage": [
    taking((said) =>
      said._tag === "settled" ? { ...said, preimage: Preimage.make("00".repeat(32)) } : said
    ),
    ["a payment settles with a valid preimage"]
  ],
  "a sender that reports settled without paying": [
    sabotage(LightningSender, ({ lookupPayment }) => ({
      pay: () =>
        Effect.succeed({
          _tag: "settled",
          preimage: Preimage.make("00".repeat(32)),
          fee: Msat.zero,
          index: null
        }),
      lookupPayment
    })),
    ["a payment settles with a valid preimage"]
  ],
  "a sender that ignores the amount for invoices without one": [
    sabotage(LightningSender, ({ pay }) => ({
      pay: (ask) =>
        pay(ask.invoice.amount === undefined ? { ...ask, amount: Msat.make(ask.amount * 2n) } : ask)
    })),
    ["an invoice without an amount is paid in the requested amount"]
  ],
  "a sender that pays in order to quote": [
    sabotage(LightningSender, ({ pay, quote }) => ({ quote: (ask) => Effect.andThen(pay(ask), quote(ask)) })),
    ["a quote is within the limit, states the probability of success and sends nothing"]
  ],
  "a sender that returns a quote without a route": [
    sabotage(LightningSender, ({ quote }) => ({
      quote: (ask) => Effect.map(quote(ask), (best) => best ?? { fee: Msat.zero, probability: 0.5 })
    })),
    ["there is no quote if no route exists or every route exceeds the limit"]
  ],
  "a sender whose quotes always have a probability of 1": [
    sabotage(LightningSender, ({ quote }) => ({
      quote: (ask) => Effect.map(quote(ask), (best) => best && { ...best, probability: 100 })
    })),
    ["a quote is within the limit, states the probability of success and sends nothing"]
  ],
  "a sender that reports an outage as no route": [
    sabotage(LightningSender, ({ quote }) => ({
      quote: (ask) => Effect.catchTag(quote(ask), "NodeUnavailable", () => Effect.succeed(undefined))
    })),
    ["if the node does not respond, a quote fails as unavailable"]
  ],
  "a sender that sends no notifications": [
    sabotage(LightningSender, () => ({ ends: Stream.never })),
    [
      "if the node supports notifications, a subscriber is notified when a payment has settled or failed, and not earlier"
    ]
  ],
  "a sender that notifies when it sends": [
    sabotage(LightningSender, ({ pay }) => {
      const sent = Effect.runSync(Queue.unbounded<PaymentHash.PaymentHash>())
      return {
        pay: (ask) => Effect.andThen(Queue.offer(sent, ask.invoice.paymentHash), pay(ask)),
        ends: Stream.fromQueue(sent)
      }
    }),
    [
      "if the node supports notifications, a subscriber is notified when a payment has settled or failed, and not earlier"
    ]
  ],
  "a sender that notifies only of settled payments": [
    sabotage(LightningSender, ({ ends, lookupPayment }) => ({
      ends: Stream.filterEffect(ends, (paymentHash) =>
        Effect.map(lookupPayment(paymentHash), ({ _tag }) => _tag === "settled")
      )
    })),
    [
      "if the node supports notifications, a subscriber is notified when a payment has settled or failed, and not earlier"
    ]
  ]
})
