import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { NotSent } from "@satrail/core/nodes/LightningSender"
import { OfferSender, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Effect, Stream } from "effect"
import { promises } from "../src/nodes/OfferSender.ts"
import { bites, sabotage } from "./sandbox.ts"

type Looked = OfferPayment | NotSent | { readonly _tag: "notFound" }

/** A mutant that interprets the node's responses differently. */
const taking = (understand: <A extends Looked>(said: A) => A | OfferPayment) =>
  sabotage(OfferSender, ({ lookupOffer, payOffer }) => ({
    payOffer: (ask) => Effect.map(payOffer(ask), understand),
    lookupOffer: (attempt) =>
      Effect.map(lookupOffer(attempt), (said) => understand<Exclude<Looked, NotSent>>(said))
  }))

const failed = { _tag: "failed", reason: "timeout" } as const
const limit =
  "C25 C26 C28 C38: nothing is sent if the fee limit is one millisatoshi below the fee of the cheapest route"

bites("OfferSender", promises, {
  "a payer without a fee limit": [
    sabotage(OfferSender, ({ payOffer }) => ({
      payOffer: (ask) => payOffer({ ...ask, feeLimit: ask.amount })
    })),
    [limit, "C25 C26: if the fee limit is 0, no fee is paid"]
  ],
  "a payer that requests a new invoice for each call": [
    sabotage(OfferSender, ({ payOffer }) => ({
      payOffer: (ask) => Effect.andThen(payOffer({ ...ask, attempt: crypto.randomUUID() }), payOffer(ask))
    })),
    [
      "C11: repeated requests for one attempt pay once",
      "a payment settles with a preimage that matches the reported hash"
    ]
  ],
  "a payer that identifies an attempt by its offer": [
    sabotage(OfferSender, ({ payOffer, lookupOffer }) => {
      const first = new Map<string, string>()
      const of = new Map<string, string>()
      return {
        payOffer: (ask) => {
          const attempt = first.get(ask.offer.offer) ?? ask.attempt
          first.set(ask.offer.offer, attempt)
          of.set(ask.attempt, attempt)
          return payOffer({ ...ask, attempt })
        },
        lookupOffer: (attempt) => lookupOffer(of.get(attempt) ?? attempt)
      }
    }),
    ["two attempts to pay one offer are two payments"]
  ],
  "a payer that reports an outage as a failure": [
    taking((said) => (said._tag === "unknown" ? failed : said)),
    [
      "C2: a node that does not respond leaves a payment unknown, not failed",
      "C6: a settled payment is reported as unknown while its state cannot be read, and as settled afterward"
    ]
  ],
  "a payer that reports a pending payment as failed": [
    taking((said) => (said._tag === "pending" ? failed : said)),
    ["C1: a held payment is pending, is not sent again, and can still settle"]
  ],
  "a payer that reports an unknown attempt as failed": [
    taking((said) => (said._tag === "notFound" ? failed : said)),
    ["C8: an attempt that was never made is not found"]
  ],
  "a payer that reports failed payments as pending": [
    taking((said) => (said._tag === "failed" ? { _tag: "pending" } : said)),
    [
      "a payment that the issuer rejects fails, and stays failed when requested again",
      "a payment below the offer's amount is refused"
    ]
  ],
  "a payer that returns an invalid preimage": [
    taking((said) =>
      said._tag === "settled" ? { ...said, preimage: Preimage.make("00".repeat(32)) } : said
    ),
    ["a payment settles with a preimage that matches the reported hash"]
  ],
  "a payer that pays the offer's amount instead of the requested one": [
    sabotage(OfferSender, ({ payOffer }) => ({
      payOffer: (ask) => payOffer({ ...ask, amount: ask.offer.amount ?? ask.amount })
    })),
    [
      "an offer with an amount is paid in the requested amount if that is at least the offer's amount",
      "a payment below the offer's amount is refused"
    ]
  ],
  "a payer that reports a sent payment as not sent": [
    sabotage(OfferSender, ({ payOffer }, { pause, resume }) => ({
      payOffer: Effect.fnUntraced(function* (ask) {
        const said = yield* payOffer(ask)
        if (said._tag === "notSent")
          yield* Effect.ensuring(Effect.andThen(resume("node"), payOffer(ask)), pause("node"))
        return said
      })
    })),
    [
      "C3: an attempt reported as not sent was not sent: it is not found, the issuer received nothing, and repeating the call pays once"
    ]
  ],
  "a payer that returns a quote without a route": [
    sabotage(OfferSender, ({ quote }) => ({
      quote: (ask) => Effect.map(quote(ask), (best) => best ?? { fee: Msat.zero, probability: 0.5 })
    })),
    ["there is no quote if no route exists", "there is no quote if every route exceeds the limit"]
  ],
  "a payer that reports an outage as no route": [
    sabotage(OfferSender, ({ quote }) => ({
      quote: (ask) => Effect.catchTag(quote(ask), "NodeUnavailable", () => Effect.succeed(undefined))
    })),
    ["if the node does not respond, a quote fails as unavailable"]
  ],
  "a payer that pays in order to quote": [
    sabotage(OfferSender, ({ payOffer, quote }) => ({
      quote: (ask) => Effect.andThen(payOffer({ ...ask, attempt: crypto.randomUUID() }), quote(ask))
    })),
    ["a quote is within the limit, states the probability of success and sends nothing"]
  ],
  "a payer that sends no notifications": [
    sabotage(OfferSender, () => ({ ends: Stream.never })),
    [
      "if the node supports notifications, a subscriber is notified when an attempt has settled or failed, and not earlier"
    ]
  ]
})
