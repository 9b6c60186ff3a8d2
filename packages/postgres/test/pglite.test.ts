import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import * as Ledger from "@satrail/core/ledger/Journal"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"
import { Patience } from "../src/client/PgConnection.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Edges from "./Edges.ts"
import { shared } from "./Shared.ts"

const client = await shared(Embedded.layer)
const storage = await shared(Layer.provide(Storage.layerClient(), client))

// With a PostgreSQL server, postgres.test.ts runs the same contracts there, and pglite.slow.test.ts runs them
// here.
describe.skipIf(Database.server !== undefined)("embedded (where there is no server)", () => {
  Journal.suite("pglite, grouped", storage)
  Records.suite("pglite, grouped", storage)
  Tasks.suite("pglite, grouped", storage)
  Edges.suite("pglite", storage)
})

it.layer(client, { excludeTestServices: true })("PgliteClient", (it) => {
  it.effect("PGlite: transactions run one at a time, and a failed transaction leaves no trace", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inside = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`insert into satrail.cursors (source, value) values ('trace', '1')`
          yield* Effect.yieldNow
          return yield* Effect.fail("no" as const)
        })
      )
      const look = sql<{
        readonly n: string
      }>`select count(*)::text as n from satrail.cursors where source = 'trace'`
      const [, seen] = yield* Effect.all([Effect.flip(inside), look], { concurrency: 2 })
      assert.deepStrictEqual(seen, [{ n: "0" }])
    })
  )
  it.effect("PGlite: no statement is parsed or planned twice, even if it fails", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Effect.provide(Effect.service(Ledger.Journal), storage)
      for (const value of ["1", "2", "3"])
        yield* journal.commit(Cursor.moved({ source: "plans", value }, yield* Id.make, 1))
      const divided = (by: number) => sql<{ readonly n: number }>`select 6 / ${by}::int4 as n`
      const error = yield* Effect.flip(divided(0))
      assert.strictEqual(error.reason.message, "division by zero")
      assert.deepStrictEqual([yield* divided(2), yield* divided(3)], [[{ n: 3 }], [{ n: 2 }]])
      const known = yield* sql<{
        readonly statement: string
        readonly custom: number
        readonly generic: number
      }>`select statement, custom_plans::int4 as custom, generic_plans::int4 as generic from pg_prepared_statements`
      assert.deepStrictEqual(
        known.filter(({ custom }) => custom > 0),
        []
      )
      assert.strictEqual(known.find(({ statement }) => statement.startsWith("select 6 /"))?.generic, 3)
      assert.isTrue(
        known.some(({ generic, statement }) => generic >= 3 && statement.includes("satrail.cursors"))
      )
    })
  )
  it.effect("PGlite: statements of a transaction that run at once keep their results apart", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ask = (n: number) => sql<{ readonly n: number }>`select ${n}::int4 as n`
      const rows = yield* sql.withTransaction(Effect.forEach([1, 2, 3, 4], ask, { concurrency: "unbounded" }))
      assert.deepStrictEqual(rows.flat(), [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
    })
  )
  it.effect("PGlite: a read fails if a transaction does not end in time, instead of waiting forever", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const open = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(sql`select 1`, Effect.never)), {
        startImmediately: true
      })
      const error = yield* Effect.flip(Effect.provideService(sql`select 1`, Patience, 50))
      assert.strictEqual(error.reason.message, "no response within 50 ms")
      yield* Fiber.interrupt(open)
      assert.strictEqual((yield* sql`select 1`).length, 1)
    })
  )
})

const both = [
  ["embedded", client],
  ...(Database.server === undefined ? [] : [["server", Database.layer] as const])
] as const
for (const [name, layer] of both)
  it.layer(layer, { excludeTestServices: true })(`statements (${name})`, (it) => {
    it.effect("store: a text with several statements returns the rows of the last one", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql.unsafe("select 1 as a; select 2 as a").unprepared, [{ a: 2 }])
        assert.deepStrictEqual(yield* sql.unsafe("set work_mem = '1MB'; reset work_mem").unprepared, [])
      })
    )
  })
