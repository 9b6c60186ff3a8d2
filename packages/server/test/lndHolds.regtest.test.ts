import { assert, it } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Answer from "@satrail/core/ledger/Answer"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as LookupSchedule from "@satrail/core/receiving/LookupSchedule"
import * as Decimal from "@satrail/core/base/Decimal"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import { Effect, Fiber } from "effect"
import * as Composed from "./Composed.ts"

const preimage = Preimage.make("0e".repeat(32))
const sats = 1000

const holdInvoice = Effect.fnUntraced(function* (
  company: Composed.Company,
  paymentHash: Invoice["paymentHash"] | null
) {
  const amount = yield* Effect.fromResult(Decimal.parse(String(sats)))
  const hold = { paymentHash }
  const ask = {
    companyId: company.id,
    amount,
    currency: "sats",
    description: "tea",
    expirySeconds: 3600,
    metadata: {},
    hold
  } as const
  return yield* Effect.flatMap((yield* Invoices).create(ask), Answer.made)
})

const standing = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Invoices, (invoices) => Effect.map(invoices.get(companyId, id), ({ standing }) => standing))
const settle = ({ companyId, id }: Invoice, given: Preimage.Preimage | null = null) =>
  Effect.flatMap(Invoices, (invoices) =>
    Effect.map(invoices.settle(companyId, id, given), ({ standing }) => standing)
  )
const cancel = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Invoices, (invoices) =>
    Effect.map(invoices.cancel(companyId, id), ({ standing }) => standing)
  )

Real.suite("hold invoices on lnd", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect(
      "hold: lnd: a held payment stays held through restarts of the service and of lnd, and is then settled, canceled, or returned before its HTLC expires",
      () =>
        Composed.story((world) =>
          Effect.gen(function* () {
            const { run, start, stop } = world
            const { alice, carol, chain } = yield* Network
            const shop = yield* run(Composed.company)
            const [settled, canceled, late, own] = [
              yield* run(holdInvoice(shop, null)),
              yield* run(holdInvoice(shop, null)),
              yield* run(holdInvoice(shop, null)),
              yield* run(holdInvoice(shop, Preimage.hashOf(preimage)))
            ]
            const rows = [settled, canceled, late, own]
            const payments = yield* Effect.forEach(rows, ({ paymentRequest }) =>
              Effect.forkChild(Effect.isSuccess(Peer.pay(carol, paymentRequest)))
            )
            const areHeld = Effect.forEach(rows, (row) =>
              eventually(run(standing(row)), (now) => now === "accepted")
            )
            yield* areHeld
            yield* stop
            yield* start
            yield* alice.stop("SIGKILL")
            // The payments are settled or canceled while lnd is down. A restarted process forwards the
            // decisions when lnd is back.
            assert.strictEqual(yield* run(settle(settled)), "accepted")
            assert.strictEqual(yield* run(cancel(canceled)), "canceled")
            assert.strictEqual((yield* run(Composed.balance(shop))).posted, Msat.zero)
            yield* stop
            yield* alice.start
            yield* start
            yield* eventually(run(standing(settled)), (now) => now === "settled")
            assert.strictEqual((yield* run(Composed.balance(shop))).posted, Msat.fromSats(sats))
            assert.strictEqual(yield* run(settle(own, preimage)), "settled")
            const state = yield* run(
              Effect.flatMap(LightningReceiver, ({ lookupInvoice }) => lookupInvoice(late.paymentHash))
            )
            const { blocksLeft } =
              (state._tag === "accepted" ? state.held : undefined) ?? assert.fail(state._tag)
            yield* chain.mine(blocksLeft - LookupSchedule.holdInvoices.marginBlocks)
            yield* eventually(run(standing(late)), (now) => now === "canceled")
            assert.strictEqual((yield* run(Effect.flip(settle(late))))._tag, "InvoiceNotHeld")
            assert.deepStrictEqual(yield* Effect.forEach(payments, Fiber.join), [true, false, false, true])
            assert.strictEqual((yield* run(Composed.balance(shop))).posted, Msat.fromSats(2 * sats))
          })
        )
    )
  })
})
