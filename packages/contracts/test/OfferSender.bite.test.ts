import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { NotSent } from "@satrail/core/nodes/LightningSender"
import { OfferSender, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Effect, Stream } from "effect"
import { promises } from "../src/OfferSender.ts"
import { bites, sabotage } from "./sandbox.ts"

type Looked = OfferPayment | NotSent | { readonly _tag: "notFound" }

/** One that understands what the node says in its own way. */
const taking = (understand: <A extends Looked>(said: A) => A | OfferPayment) =>
  sabotage(OfferSender, ({ lookupOffer, payOffer }) => ({
    payOffer: (ask) => Effect.map(payOffer(ask), understand),
    lookupOffer: (attempt) => Effect.map(lookupOffer(attempt), (said) => understand<Exclude<Looked, NotSent>>(said))
  }))

const failed = { _tag: "failed", reason: "timeout" } as const
const limit = "C25 C26 C28 C38: the fee limit is never exceeded: with a millisatoshi less than the best route costs, nothing is sent"

bites("OfferSender", promises, {
  "one that sets no fee limit": [
    sabotage(OfferSender, ({ payOffer }) => ({ payOffer: (ask) => payOffer({ ...ask, feeLimit: ask.amount }) })),
    [limit, "C25 C26: with a fee limit of 0 no fee is paid"]
  ],
  "one that asks for a new invoice each time": [
    sabotage(OfferSender, ({ payOffer }) => ({
      payOffer: (ask) => Effect.andThen(payOffer({ ...ask, attempt: crypto.randomUUID() }), payOffer(ask))
    })),
    ["C11: an attempt is paid once, however often it is asked for", "a payment arrives, and its preimage proves the hash that is reported"]
  ],
  "one that takes an offer for the attempt to pay it": [
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
    ["two attempts to pay an offer are two payments"]
  ],
  "one that takes no answer for a failure": [
    taking((said) => (said._tag === "unknown" ? failed : said)),
    [
      "C2: a node that does not answer has not refused: unknown is not failed",
      "C6: a settled payment whose state cannot be read is unknown, and settled when it can"
    ]
  ],
  "one that takes a payment under way for a failure": [
    taking((said) => (said._tag === "pending" ? failed : said)),
    ["C1: a held payment is pending, is not sent again, and may settle at any time"]
  ],
  "one that takes no record for a failure": [
    taking((said) => (said._tag === "notFound" ? failed : said)),
    ["C8: there is no record of an attempt that was never made"]
  ],
  "one that hopes on": [
    taking((said) => (said._tag === "failed" ? { _tag: "pending" } : said)),
    ["a payment that the issuer refuses has failed, and stays so when it is asked for again", "less than an offer asks for is not paid"]
  ],
  "one that makes up the preimage": [
    taking((said) => (said._tag === "settled" ? { ...said, preimage: Preimage.make("00".repeat(32)) } : said)),
    ["a payment arrives, and its preimage proves the hash that is reported"]
  ],
  "one that pays what the offer asks for": [
    sabotage(OfferSender, ({ payOffer }) => ({ payOffer: (ask) => payOffer({ ...ask, amount: ask.offer.amount ?? ask.amount }) })),
    ["of an offer with an amount the requested one is paid: that, or more", "less than an offer asks for is not paid"]
  ],
  "one that says it was not sent, and sends": [
    sabotage(OfferSender, ({ payOffer }, { pause, resume }) => ({
      payOffer: Effect.fnUntraced(function* (ask) {
        const said = yield* payOffer(ask)
        if (said._tag === "notSent") yield* Effect.ensuring(Effect.andThen(resume("node"), payOffer(ask)), pause("node"))
        return said
      })
    })),
    ["C3: an attempt reported as not sent was not: there is no record of it, its issuer has nothing, and called again it is paid once"]
  ],
  "one that always has a route": [
    sabotage(OfferSender, ({ quote }) => ({
      quote: (ask) => Effect.map(quote(ask), (best) => best ?? { fee: Msat.zero, probability: 0.5 })
    })),
    ["there is no quote without a route", "there is no quote with a limit below every route"]
  ],
  "one that takes an outage for no route": [
    sabotage(OfferSender, ({ quote }) => ({
      quote: (ask) => Effect.catchTag(quote(ask), "NodeUnavailable", () => Effect.succeed(undefined))
    })),
    ["a node that does not answer gives no quote, which is an outage"]
  ],
  "one that pays to see what it costs": [
    sabotage(OfferSender, ({ payOffer, quote }) => ({
      quote: (ask) => Effect.andThen(payOffer({ ...ask, attempt: crypto.randomUUID() }), quote(ask))
    })),
    ["a quote is within the limit, says how likely it is, and sends nothing"]
  ],
  "one that tells of nothing": [
    sabotage(OfferSender, () => ({ ends: Stream.never })),
    ["a subscriber is notified of an attempt when it ends, and not before; never by a node without notifications"]
  ]
})
