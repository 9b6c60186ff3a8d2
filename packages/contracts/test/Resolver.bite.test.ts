import * as Msat from "@satrail/bitcoin/Msat"
import { type Fetched, RecipientRefused, RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { Effect } from "effect"
import { promises } from "../src/nodes/Resolver.ts"
import { bites, sabotage } from "./sandbox.ts"

bites("Resolver", promises, {
  "a resolver that returns an old invoice": [
    sabotage(Resolver, ({ invoice }) => {
      const before = new Map<string, Fetched>()
      return {
        invoice: (offer, amount) =>
          Effect.suspend(() => {
            const old = before.get(offer.callback)
            return old === undefined
              ? Effect.tap(invoice(offer, amount), (one) =>
                  Effect.sync(() => before.set(offer.callback, one))
                )
              : Effect.succeed(old)
          })
      }
    }),
    ["every request gets a new invoice"]
  ],
  "a resolver that supports whole satoshis only": [
    sabotage(Resolver, ({ invoice }) => ({
      invoice: (offer, amount) => invoice(offer, Msat.fromSats(Msat.toSats(amount)))
    })),
    [
      "C39: an invoice is for exactly the requested amount, to the millisatoshi",
      "a request that the payee does not accept is rejected"
    ]
  ],
  "a resolver that rewrites the metadata": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) =>
        Effect.map(offer(url), (one) => ({
          ...one,
          metadata: JSON.stringify(JSON.parse(one.metadata), null, 1)
        }))
    })),
    ["the metadata is returned unchanged and hashes to the invoice's description hash"]
  ],
  "a resolver that treats millisatoshis as satoshis": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) =>
        Effect.map(offer(url), (one) => ({
          ...one,
          min: Msat.make(one.min * 1000n),
          max: Msat.make(one.max * 1000n)
        }))
    })),
    ["a pay request has the payee's amount limits"]
  ],
  "a resolver that reports an outage as a rejection": [
    sabotage(Resolver, ({ invoice, offer }) => ({
      offer: (url) =>
        Effect.catchTag(offer(url), "RecipientUnreachable", ({ reason }) =>
          Effect.fail(new RecipientRefused({ reason }))
        ),
      invoice: (one, amount) =>
        Effect.catchTag(invoice(one, amount), "RecipientUnreachable", ({ reason }) =>
          Effect.fail(new RecipientRefused({ reason }))
        )
    })),
    ["a payment to an unreachable server is not reported as rejected"]
  ],
  "a resolver that reports a rejection as an outage": [
    sabotage(Resolver, ({ offer }) => ({
      offer: (url) =>
        Effect.catchTag(offer(url), "RecipientRefused", ({ reason }) =>
          Effect.fail(new RecipientUnreachable({ reason }))
        )
    })),
    ["an unknown payee is rejected by its server"]
  ]
})
