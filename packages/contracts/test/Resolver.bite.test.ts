import * as Msat from "@satrail/bitcoin/Msat"
import { type Fetched, RecipientRefused, RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { Effect } from "effect"
import { promises } from "../src/Resolver.ts"
import { bites, sabotage } from "./sandbox.ts"

bites("Resolver", promises, {
  "one that pays an old invoice again": [
    sabotage(Resolver, ({ invoice }) => {
      const before = new Map<string, Fetched>()
      return {
        invoice: (offer, amount) =>
          Effect.suspend(() => {
            const old = before.get(offer.callback)
            return old === undefined
              ? Effect.tap(invoice(offer, amount), (one) => Effect.sync(() => before.set(offer.callback, one)))
              : Effect.succeed(old)
          })
      }
    }),
    ["every invoice is a fresh one"]
  ],
  "one that knows whole satoshis only": [
    sabotage(Resolver, ({ invoice }) => ({ invoice: (offer, amount) => invoice(offer, Msat.fromSats(Msat.toSats(amount))) })),
    ["C39: an invoice asks for exactly the amount, to the millisatoshi", "what the recipient does not take is refused"]
  ],
  "one that writes the metadata anew": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) => Effect.map(offer(url), (one) => ({ ...one, metadata: JSON.stringify(JSON.parse(one.metadata), null, 1) }))
    })),
    ["the metadata is byte for byte what the invoice's description hash was made of"]
  ],
  "one that takes millisatoshis for satoshis": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) => Effect.map(offer(url), (one) => ({ ...one, min: Msat.make(one.min * 1000n), max: Msat.make(one.max * 1000n) }))
    })),
    ["a pay request has the payee's limits"]
  ],
  "one that takes no answer for a no": [
    sabotage(Resolver, ({ invoice, offer }) => ({
      offer: (url) => Effect.catchTag(offer(url), "RecipientUnreachable", ({ reason }) => Effect.fail(new RecipientRefused({ reason }))),
      invoice: (one, amount) =>
        Effect.catchTag(invoice(one, amount), "RecipientUnreachable", ({ reason }) => Effect.fail(new RecipientRefused({ reason })))
    })),
    ["a server that cannot be reached has not refused"]
  ],
  "one that takes a no for no answer": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) => Effect.catchTag(offer(url), "RecipientRefused", ({ reason }) => Effect.fail(new RecipientUnreachable({ reason })))
    })),
    ["an unknown payee is refused by its server"]
  ]
})
