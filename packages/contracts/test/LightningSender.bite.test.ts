import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningSender, type NotSent, type Payment } from "@satrail/core/nodes/LightningSender"
import { Effect, Queue, Stream } from "effect"
import { promises } from "../src/LightningSender.ts"
import { bites, sabotage } from "./sandbox.ts"

type Looked = Payment | NotSent | { readonly _tag: "notFound" }

/** One that understands what the node says in its own way. */
const taking = (understand: <A extends Looked>(said: A) => A | Payment) =>
  sabotage(LightningSender, ({ lookupPayment, pay }) => ({
    pay: (ask) => Effect.map(pay(ask), understand),
    lookupPayment: (hash) => Effect.map(lookupPayment(hash), (said) => understand<Exclude<Looked, NotSent>>(said))
  }))

const failed = { _tag: "failed", reason: "timeout" } as const

bites("LightningSender", promises, {
  "one that sets no fee limit": [
    sabotage(LightningSender, ({ pay }) => ({ pay: (ask) => pay({ ...ask, feeLimit: ask.amount }) })),
    [
      "C25 C26 C28 C38: the fee limit is never exceeded: with a millisatoshi less than the best route costs, nothing is sent",
      "C25 C26: with a fee limit of 0 no fee is paid"
    ]
  ],
  "one that takes satoshis for millisatoshis in the fee limit": [
    sabotage(LightningSender, ({ pay }) => ({ pay: (ask) => pay({ ...ask, feeLimit: Msat.make(ask.feeLimit * 1000n) }) })),
    ["C25 C26 C28 C38: the fee limit is never exceeded: with a millisatoshi less than the best route costs, nothing is sent"]
  ],
  "one that takes no answer for a failure": [
    taking((said) => (said._tag === "unknown" ? failed : said)),
    [
      "C2: a node that does not answer has not refused: unknown is not failed",
      "C6: a settled payment whose state cannot be read is unknown, and settled when it can"
    ]
  ],
  "one that takes no answer for no record": [
    sabotage(LightningSender, ({ lookupPayment }) => ({
      lookupPayment: (hash) =>
        Effect.map(lookupPayment(hash), (said): Exclude<Looked, NotSent> => (said._tag === "unknown" ? { _tag: "notFound" } : said))
    })),
    [
      "C2: a node that does not answer has not refused: unknown is not failed",
      "C6: a settled payment whose state cannot be read is unknown, and settled when it can"
    ]
  ],
  "one that calls a payment not sent that it has sent": [
    sabotage(LightningSender, ({ pay }) => ({ pay: (ask) => Effect.as(pay(ask), { _tag: "notSent" }) })),
    ["C3: a payment reported as not sent was not: there is no record of it, its payee has nothing, and called again it is paid once"]
  ],
  "one that loses patience with what is held": [
    taking((said) => (said._tag === "pending" ? failed : said)),
    [
      "C1: a held payment is pending, is not sent again, and may settle at any time",
      "C1: a held payment may fail at any time, and then nothing was paid"
    ]
  ],
  "one that takes what is held for paid": [
    taking((said) =>
      said._tag === "pending" ? { _tag: "settled", preimage: Preimage.make("00".repeat(32)), fee: Msat.zero, index: null } : said
    ),
    ["C1: a held payment is pending, is not sent again, and may settle at any time"]
  ],
  "one that says failed to who asks again": [
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
      "C11: the same hash is paid once, however often pay is called",
      "C11: the same hash is paid once, by eight at once",
      "C1: a held payment is pending, is not sent again, and may settle at any time"
    ]
  ],
  "one that takes no record for a failure": [
    taking((said) => (said._tag === "notFound" ? failed : said)),
    ["C8: there is no record of a payment that was never sent", "a quote is within the limit, says how likely it is, and sends nothing"]
  ],
  "one that does not say why": [
    taking((said) => (said._tag === "failed" ? { _tag: "failed", reason: "error" } : said)),
    ["a payment that the payee refuses has failed, in every response", "a payment without a route has failed, with that reason"]
  ],
  "one that hopes on": [
    taking((said) => (said._tag === "failed" ? { _tag: "pending" } : said)),
    ["a payment that the payee refuses has failed, in every response", "C25 C26: with a fee limit of 0 no fee is paid"]
  ],
  "one that makes up the preimage": [
    taking((said) => (said._tag === "settled" ? { ...said, preimage: Preimage.make("00".repeat(32)) } : said)),
    ["a payment arrives, and its preimage proves it"]
  ],
  "one that says settled and pays nothing": [
    sabotage(LightningSender, ({ lookupPayment }) => ({
      pay: () => Effect.succeed({ _tag: "settled", preimage: Preimage.make("00".repeat(32)), fee: Msat.zero, index: null }),
      lookupPayment
    })),
    ["a payment arrives, and its preimage proves it"]
  ],
  "one that pays what it likes where the invoice does not say": [
    sabotage(LightningSender, ({ pay }) => ({
      pay: (ask) => pay(ask.invoice.amount === undefined ? { ...ask, amount: Msat.make(ask.amount * 2n) } : ask)
    })),
    ["an invoice without an amount is paid with the requested one"]
  ],
  "one that pays to see what it costs": [
    sabotage(LightningSender, ({ pay, quote }) => ({ quote: (ask) => Effect.andThen(pay(ask), quote(ask)) })),
    ["a quote is within the limit, says how likely it is, and sends nothing"]
  ],
  "one that always has a route": [
    sabotage(LightningSender, ({ quote }) => ({
      quote: (ask) => Effect.map(quote(ask), (best) => best ?? { fee: Msat.zero, probability: 0.5 })
    })),
    ["there is no quote without a route, nor with a limit below every route"]
  ],
  "one that is always sure": [
    sabotage(LightningSender, ({ quote }) => ({ quote: (ask) => Effect.map(quote(ask), (best) => best && { ...best, probability: 100 }) })),
    ["a quote is within the limit, says how likely it is, and sends nothing"]
  ],
  "one that takes an outage for no route": [
    sabotage(LightningSender, ({ quote }) => ({
      quote: (ask) => Effect.catchTag(quote(ask), "NodeUnavailable", () => Effect.succeed(undefined))
    })),
    ["a node that does not answer gives no quote, which is an outage"]
  ],
  "one that tells of nothing": [
    sabotage(LightningSender, () => ({ ends: Stream.never })),
    ["a subscriber is notified of a payment when it ends, well or not, and not before; never by a node without notifications"]
  ],
  "one that tells of what it sends": [
    sabotage(LightningSender, ({ pay }) => {
      const sent = Effect.runSync(Queue.unbounded<PaymentHash.PaymentHash>())
      return {
        pay: (ask) => Effect.andThen(Queue.offer(sent, ask.invoice.paymentHash), pay(ask)),
        ends: Stream.fromQueue(sent)
      }
    }),
    ["a subscriber is notified of a payment when it ends, well or not, and not before; never by a node without notifications"]
  ],
  "one that tells of what settles alone": [
    sabotage(LightningSender, ({ ends, lookupPayment }) => ({
      ends: Stream.filterEffect(ends, (paymentHash) => Effect.map(lookupPayment(paymentHash), ({ _tag }) => _tag === "settled"))
    })),
    ["a subscriber is notified of a payment when it ends, well or not, and not before; never by a node without notifications"]
  ]
})
