import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
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
