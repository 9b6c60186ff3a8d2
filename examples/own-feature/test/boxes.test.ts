import { assert, it } from "@effect/vitest"
import { Msat } from "@satrail/bitcoin"
import { Fences, Ledger, Nouns } from "@satrail/contracts"
import { Answer, Companies, Decimal, features, Invoices, Policy, Satrail } from "@satrail/service"
import { Features, Records } from "@satrail/core/ports"
import { Id } from "@satrail/service/records"
import { Memory } from "@satrail/service/memory"
import { Feature, Storage } from "@satrail/service/postgres"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer } from "effect"
import * as Box from "../Box.ts"
import { Boxes, boxes } from "../Boxes.ts"

const own = Layer.merge(
  Layer.succeed(Features.Features, [...features, boxes]),
  Layer.succeed(Feature.Own, [{ tables: Box.table }])
)

const atMillis = 1_700_000_000_000
const subject = Nouns.subjectOf(
  Box.noun,
  (companyId) =>
    Effect.gen(function* () {
      const times = { opensAtMillis: atMillis + 1000, createdAtMillis: atMillis, updatedAtMillis: atMillis }
      const row = {
        id: yield* Id.make,
        companyId,
        ledgerTxId: yield* Id.make,
        amount: Msat.fromSats(10),
        label: "Rent",
        ...times
      }
      return Box.filled({ ...row, status: "locked" })
    }),
  {
    opened: (row) =>
      Effect.map(Fences.fenceOf(Box.taskKind, row.id, row.opensAtMillis), (fence) =>
        Box.opened(row, fence, row.opensAtMillis)
      )
  }
)

/** The embedded PostgreSQL creates the feature's table. */
const postgres = Storage.layerEmbedded()

const shop = Effect.gen(function* () {
  const { id } = yield* Effect.flatMap(
    (yield* Companies.Companies).open({ name: "Café", plan: "free" }),
    Answer.made
  )
  const invoices = yield* Invoices.Invoices
  const price = {
    companyId: id,
    amount: Decimal.make(100n),
    currency: "sats",
    expirySeconds: 600,
    metadata: {}
  } as const
  const sold = yield* Effect.flatMap(invoices.create({ ...price, description: "Beans" }), Answer.made)
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: sold.paymentRequest })
  while ((yield* invoices.get(id, sold.id)).status !== "settled") yield* Effect.sleep(5)
  return id
})

for (const [name, bare] of [
  ["memory", Memory.layer],
  ["postgres", postgres]
] as const) {
  const storage = Layer.provide(bare, own)
  Nouns.suite("boxes", subject)(name, storage)

  it.live(
    `own feature: a box is filled once per idempotency key and opened once, and verification counts its money (${name})`,
    () =>
      Effect.gen(function* () {
        const { put, list, step, takeOut } = yield* Boxes
        const records = yield* Records.Records
        const id = yield* shop
        const has = (held: number) =>
          Effect.gen(function* () {
            yield* Ledger.has(id, { posted: 100, held })
            assert.deepStrictEqual(yield* records.faults(id), [])
          })
        const rent = { amount: Msat.fromSats(60), label: "Rent", opensAtMillis: Date.now() + 3_600_000 }
        const request = { key: "rent", fingerprint: "Rent", render: ({ label }: Box.Box) => label }
        const box = yield* Effect.flatMap(put(id, rent, request), Answer.made)
        assert.deepStrictEqual(yield* put(id, rent, request), { _tag: "Replayed", answer: "Rent" })
        const tooMuch = { amount: Msat.fromSats(41), label: "Car", opensAtMillis: Date.now() }
        assert.strictEqual((yield* Effect.flip(put(id, tooMuch)))._tag, "InsufficientBalance")
        yield* has(60)
        yield* Effect.all([takeOut(id, box.id), takeOut(id, box.id)], { concurrency: 2 })
        yield* has(0)
        yield* put(id, tooMuch)
        yield* Effect.all([step, step], { concurrency: 2 })
        while ((yield* list(id)).some(({ status }) => status !== "open")) yield* Effect.sleep(5) // the worker may have claimed it
        yield* has(0)
        assert.deepStrictEqual((yield* list(id)).map(({ label }) => label).toSorted(), ["Car", "Rent"])
      }).pipe(
        Effect.provide(
          boxes.layer.pipe(
            Layer.provideMerge(Satrail.layerWorkers),
            Layer.provideMerge(
              Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })
            ),
            Layer.provideMerge(
              Layer.mergeAll(storage, Sandbox.layer({ seed: "own", network: "regtest" }), FixedRates.layer())
            ),
            Layer.provideMerge(own)
          )
        )
      )
  )
}
