import { assert, layer } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Records } from "@satrail/core/service/Records"
import * as Storage from "@satrail/service/postgres/Storage"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Embedded from "../../postgres/test/Embedded.ts"
import * as Drive from "../src/Drive.ts"
import * as Fill from "../src/Fill.ts"

const { settledByPgbench, settledInProcess } = Fill.kinds
const company = (number: number) => CompanyId.make(Fill.id(Fill.kinds.company, number))
const none = { clients: 1, warmupMillis: 0, millis: 0, first: 0, end: 0 }

/** The number of rows in each table. */
const counted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql.unsafe<{ readonly name: string }>(
    "select tablename as name from pg_tables where schemaname = 'satrail' order by 1"
  )
  const all = tables
    .map(({ name }) => `select '${name}' as name, count(*)::text as rows from satrail.${name}`)
    .join(" union all ")
  return new Map(
    (yield* sql.unsafe<{ readonly name: string; readonly rows: string }>(all)).map(({ name, rows }) => [
      name,
      Number(rows)
    ])
  )
})

/** Returns the number of rows that `act` adds, for each table that grows. */
const written = <E, R>(act: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const before = yield* counted
    yield* act
    const grown = [...(yield* counted)].map(([name, rows]) => [name, rows - (before.get(name) ?? 0)] as const)
    return Object.fromEntries(grown.filter(([, more]) => more !== 0))
  })

const call = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text).unprepared)

const database = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Fill.companies
    yield* Fill.history(4004, () => {})
    for (const kind of [settledByPgbench, settledInProcess]) yield* Fill.open(kind, 0, 20)
  })
).pipe(Layer.provideMerge(Storage.layerClient()), Layer.provideMerge(Embedded.layer))

const agrees = (number: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { totals, entries, pending } = yield* records.audit(company(number))
    assert.deepStrictEqual(totals, entries)
    assert.strictEqual(totals.held, pending)
    assert.isTrue(totals.posted > 0n)
  })

layer(database, { excludeTestServices: true })("a filled database", (it) => {
  it.effect("fill: the generated history matches the totals, and the companies' API keys are known", () =>
    Effect.gen(function* () {
      for (const number of [1, 500, Fill.busy]) yield* agrees(number)
      const records = yield* Records
      assert.isTrue(
        Option.isSome(yield* records.invoice(company(Fill.busy), Fill.id(Fill.kinds.history, Fill.busy - 1)))
      )
      assert.isTrue(
        Option.isSome(
          yield* records.named(LightningAddress.noun, {
            handle: Fill.destination.handle,
            domain: Fill.destination.domain
          })
        )
      )
      const typesOf = (number: number) =>
        Effect.map(records.transactions(company(number), { limit: 50 }), (newest) =>
          newest.map(({ type }) => type)
        )
      const both = ["withdrawal", "deposit"]
      assert.deepStrictEqual(yield* typesOf(500), [...both, ...both])
      assert.deepStrictEqual(
        yield* typesOf(Fill.busy),
        Array.from({ length: 25 }, () => both).flat(),
        "a whole page, however few rows there are"
      )
    })
  )

  // Both sides must do the same work: if one writes fewer rows, the ratio is meaningless.
  it.effect("fill: pgbench's script for confirm writes the same rows as the service", () =>
    Effect.gen(function* () {
      const ours = yield* written(Drive.run({ ...none, operation: "confirm", millis: 60_000, end: 1 }))
      assert.strictEqual(ours["withdrawals"], 1)
      assert.deepStrictEqual(ours, Object.fromEntries(Object.keys(ours).map((table) => [table, 1])))
      assert.deepStrictEqual(yield* written(call(`select bench.confirm(${Fill.busy})`)), ours)
      assert.deepStrictEqual(
        yield* written(call(`select bench.confirm_many(${Fill.busy}, 7)`)),
        Object.fromEntries(Object.keys(ours).map((table) => [table, 7]))
      )
      yield* agrees(Fill.busy)
    })
  )

  it.effect("fill: pgbench's script for settle writes the same rows as the service", () =>
    Effect.gen(function* () {
      const settle = { ...none, operation: "settle" as const, clients: 4, millis: 60_000, end: 20 }
      const before = yield* Fill.settledByPgbench
      const ours = yield* written(Drive.run(settle))
      assert.deepStrictEqual(ours, { deposits: 20, entries: 20, events: 20 })
      const theirs = Effect.forEach(Array.from({ length: 20 }), () => call("select bench.settle()"))
      assert.deepStrictEqual(yield* written(theirs), ours)
      assert.deepStrictEqual([before, yield* Fill.settledByPgbench], [0, 20])
      for (const number of [1, 20]) yield* agrees(number)
      assert.include(String(yield* Effect.flip(call("select bench.settle()"))), "no open invoice is left")
    })
  )

  it.effect("fill: pgbench's script for invoice writes the same rows as the service", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const entropy = yield* Entropy
      const invoice: Invoice.Invoice = {
        id: Fill.id(3, 1),
        companyId: company(1),
        nodeId: "02".repeat(33),
        memo: "one of many",
        amount: Msat.fromSats(1000),
        minAmount: null,
        maxAmount: null,
        paymentHash: PaymentHash.make(Buffer.from(entropy(32)).toString("hex")),
        paymentRequest: "lnbcrt",
        metadata: {},
        lightningAddressId: null,
        splits: null,
        checkoutId: null,
        apiKeyId: null,
        callback: null,
        rate: null,
        rateAtMillis: null,
        fiatCurrency: null,
        rateSource: null,
        status: "pending",
        received: null,
        preimage: null,
        hold: null,
        held: null,
        heldUntilMillis: null,
        claimedBy: null,
        createdAtMillis: 1,
        expiresAtMillis: 2,
        settledAtMillis: null,
        canceledAtMillis: null
      }
      const ours = yield* written(journal.commit(Invoice.created(invoice)))
      assert.deepStrictEqual(yield* written(call("select bench.create_invoice(1)")), ours)
    })
  )
})
