import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer } from "effect"
import { Companies } from "../src/accounts/Companies.ts"
import * as Decimal from "../src/base/Decimal.ts"
import * as Answer from "../src/ledger/Answer.ts"
import { type Lacking, LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { OfferIssuer } from "../src/nodes/OfferIssuer.ts"
import * as Policy from "../src/service/Policy.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Offers } from "@satrail/features/offers/core/Offers"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { PayRequests } from "../src/receiving/PayRequests.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import { Withdrawals } from "../src/sending/Withdrawals.ts"

const settings = { ...Policy.defaults, network: "regtest", domain: "pay.example.com" } as const

/** All services on a node that lacks these features. */
const over = (...lacks: ReadonlyArray<Lacking>) => overNode({ lacks: new Set(lacks) })

/** All services on a node with these changes. */
const overNode = (
  receiver: Partial<LightningReceiver["Service"]>,
  sender: Partial<LightningSender["Service"]> = {}
) => {
  const ports = Layer.mergeAll(
    Memory.layer,
    Sandbox.layer({ seed: "lacking", network: "regtest" }),
    FixedRates.layer()
  )
  const node = Layer.merge(
    Layer.effect(
      LightningReceiver,
      Effect.map(LightningReceiver, (own) => ({ ...own, ...receiver }))
    ),
    Layer.effect(
      LightningSender,
      Effect.map(LightningSender, (own) => ({ ...own, ...sender }))
    )
  ).pipe(Layer.provideMerge(ports))
  return Satrail.layer(settings).pipe(Layer.provideMerge(node))
}

const opened = Effect.fnUntraced(function* (name: string) {
  return yield* Effect.flatMap((yield* Companies).open({ name, plan: "free" }), Answer.made)
})

const amount = { amount: Decimal.make(1_000n), currency: "sats" } as const

/** Estimates the payment of another company's invoice. */
const inside = Effect.gen(function* () {
  const [shop, customer] = [yield* opened("shop"), yield* opened("customer")]
  const coffee = { companyId: shop.id, ...amount, description: "coffee", expirySeconds: 600, metadata: {} }
  const { paymentRequest } = yield* Effect.flatMap((yield* Invoices).create(coffee), Answer.made)
  return yield* Effect.exit(
    (yield* Withdrawals).estimate({ company: customer, asked: amount, destination: paymentRequest })
  )
})

it.live("C15: own invoices: our invoices are not settled internally if the node cannot close them", () =>
  Effect.gen(function* () {
    const refused = yield* Effect.provide(inside, over("cancel"))
    assert.include(JSON.stringify(refused), "whose node cannot cancel it")
    assert.include(JSON.stringify(refused), "invoice_not_payable")
    assert.strictEqual((yield* Effect.provide(inside, over()))._tag, "Success")
  })
)

it.live("withdrawals: if a node has a tariff, the fee that the tariff allows is held for routing", () =>
  Effect.gen(function* () {
    const tariff = { base: Msat.fromSats(10), partsPerMillion: 10_000n }
    const estimate = Effect.gen(function* () {
      const customer = yield* opened("customer")
      const { destination } = yield* (yield* Sandbox.Sandbox).destination({
        type: "lightning_invoice",
        amount: Msat.fromSats(1_000)
      })
      return (yield* (yield* Withdrawals).estimate({ company: customer, asked: amount, destination })).fee
        .network
    })
    assert.strictEqual(
      yield* Effect.provide(estimate, overNode({}, { lacks: new Set(["fee_limit"]), tariff })),
      Msat.fromSats(20)
    )
    assert.strictEqual(yield* Effect.provide(estimate, over()), Msat.fromSats(10))
  })
)

/** Requests an LNURL invoice for `amount` msat at a new Lightning address. */
const paid = (amount: string) =>
  Effect.gen(function* () {
    const company = yield* opened("shop")
    const address = yield* Effect.flatMap(
      (yield* LightningAddresses).create({ company, handle: null, domain: null, metadata: {} }),
      Answer.made
    )
    const place = { host: address.domain, domain: null, user: address.handle }
    const ask = { amount, comment: null, payerData: null, nostr: null, caller: "192.0.2.1" }
    return yield* Effect.exit((yield* PayRequests).invoice(place, ask))
  })

it.live(
  "C28: pay requests: an amount with a fraction of a satoshi is refused if the node only supports whole satoshis",
  () =>
    Effect.gen(function* () {
      const refused = yield* Effect.provide(paid("2500"), over("millisatoshis"))
      assert.include(JSON.stringify(refused), "amount must be whole satoshis, such as 3000")
      assert.strictEqual((yield* Effect.provide(paid("3000"), over("millisatoshis")))._tag, "Success")
      assert.strictEqual((yield* Effect.provide(paid("2500"), over()))._tag, "Success")
    })
)

it.live(
  "offers: if the node cannot issue offers, a request for one is refused with that reason, and nothing is stored",
  () =>
    Effect.gen(function* () {
      const node = yield* Layer.build(
        Layer.mergeAll(
          Memory.layer,
          Sandbox.layer({ seed: "lacking", network: "regtest" }),
          FixedRates.layer()
        )
      )
      const services = Satrail.layer(settings).pipe(
        Layer.provide(Layer.succeedContext(Context.omit(OfferIssuer)(node)))
      )
      const [refused, found] = yield* Effect.provide(
        Effect.gen(function* () {
          const { id } = yield* opened("shop")
          const { create, list } = yield* Offers
          const ask = { companyId: id, memo: "", amount: null, metadata: {}, lightningAddressId: null }
          return [
            yield* Effect.flip(create(ask)),
            (yield* list(id, { limit: 1, before: null })).rows
          ] as const
        }),
        services
      )
      assert.include(JSON.stringify(refused), "requires a node that can issue BOLT 12 offers")
      assert.lengthOf(found, 0)
    })
)
