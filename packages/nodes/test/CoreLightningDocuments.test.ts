import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Layer, Redacted, References, Stream } from "effect"
import * as CoreLightning from "../src/CoreLightning.ts"
import { type Answer, json, nodeId, payment, server } from "./InLndsPlace.ts"

// Answers with every member that Core Lightning's documents give them (doc/schemas of its sources: listsendpays, xpay, listinvoices, waitanyinvoice), those that nobody reads here too.

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const preimage = Preimage.make("03".repeat(32))
const hash = Preimage.hashOf(preimage)

const part = {
  created_index: 6,
  id: 6,
  payment_hash: hash,
  groupid: 0,
  updated_index: 6,
  destination: `03${"03".repeat(32)}`,
  amount_msat: 10_000,
  amount_sent_msat: 10_001,
  created_at: 1_738_040_000,
  completed_at: 1_739_040_000
}
const failedPart = { ...part, created_index: 5, id: 5, updated_index: 5, status: "failed" }
const completePart = { ...part, partid: 1, status: "complete", payment_preimage: preimage }
const xpaid = { payment_preimage: preimage, amount_msat: 10_000, amount_sent_msat: 10_002, failed_parts: 0, successful_parts: 1 }

const invoice = {
  label: "lbl_l21",
  bolt11: "lnbcrt1example",
  payment_hash: hash,
  description: "l21 description",
  expires_at: 1_738_604_800,
  created_index: 2
}
const paid = {
  ...invoice,
  status: "paid",
  pay_index: 4,
  amount_received_msat: 400_000,
  paid_at: 1_738_000_000,
  paid_outpoint: { txid: "0f".repeat(32), outnum: 0 },
  payment_preimage: preimage,
  updated_index: 4
}

/** Both ports over a node that answers so, by path. */
const over = Effect.fnUntraced(function* (answers: Readonly<Record<string, Answer>>) {
  const getinfo = json(201, {
    id: nodeId,
    alias: "l1",
    color: "022d22",
    num_peers: 1,
    version: "v26.06.10",
    blockheight: 110,
    network: "regtest"
  })
  const { url } = yield* server((path) => (path === "/v1/getinfo" ? getinfo : answers[path]))
  const rune = Redacted.make("a rune")
  const built = yield* Layer.build(
    Layer.merge(
      CoreLightning.layerReceiver({ url, rune, invoiceSecret: Redacted.make("of the tests") }),
      CoreLightning.layerSender({ url, rune })
    )
  )
  return yield* Effect.provideContext(Effect.all({ receiver: LightningReceiver, sender: LightningSender }), built)
})

describe("core lightning's documents", () => {
  it.live("core lightning: a payment that failed and then succeeded is settled, with the fee of what succeeded", () =>
    Effect.gen(function* () {
      const { sender } = yield* over({ "/v1/listsendpays": json(201, { payments: [failedPart, completePart] }) })
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "settled", preimage, fee: 1n, index: null })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: one part on its way makes a payment pending, whatever the others are", () =>
    Effect.gen(function* () {
      const pending = { ...part, status: "pending" }
      const { sender } = yield* over({ "/v1/listsendpays": json(201, { payments: [failedPart, pending, completePart] }) })
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "pending" })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: xpay's answer is the proof and the fee", () =>
    Effect.gen(function* () {
      const { sender } = yield* over({ "/v1/listsendpays": json(201, { payments: [] }), "/v1/xpay": json(201, xpaid) })
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "settled", preimage, fee: 2n, index: null })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: an invoice is open, or settled with what was received, which its payer decides", () =>
    Effect.gen(function* () {
      const of = (row: object) =>
        over({ "/v1/listinvoices": json(201, { invoices: [row] }), "/v1/listdatastore": json(201, { datastore: [] }) })
      const { receiver } = yield* of({ ...invoice, amount_msat: 200_000, status: "unpaid" })
      assert.strictEqual((yield* receiver.lookupInvoice(hash))._tag, "open")
      const { receiver: later } = yield* of(paid)
      assert.deepStrictEqual<unknown>(yield* later.lookupInvoice(hash), { _tag: "settled", received: 400_000n, preimage })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: a settlement is reported with its place and its time", () =>
    Effect.gen(function* () {
      const { receiver } = yield* over({ "/v1/waitanyinvoice": json(201, paid) })
      const [first] = yield* Stream.runCollect(Stream.take(receiver.settlements("3"), 1))
      assert.deepStrictEqual<unknown>(first, {
        paymentHash: PaymentHash.make(hash),
        received: 400_000n,
        preimage,
        settledAtMillis: 1_738_000_000_000,
        cursor: "4"
      })
    }).pipe(Effect.scoped, quiet)
  )
})
