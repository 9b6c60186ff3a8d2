import { assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Duties from "@satrail/core/ledger/Duties"
import * as RunOnce from "@satrail/core/ledger/RunOnce"
import * as Wakes from "@satrail/core/ledger/Wakes"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

describe.skipIf(Database.server === undefined)(
  "work with a key on PostgreSQL (skipped where there is none)",
  () => {
    it.live(
      "once: concurrent callers of three stores run the work once, each gets its result, and no claim is left",
      () =>
        Effect.gen(function* () {
          const url = yield* Database.make
          const processOf = Layer.fresh(
            Duties.layer.pipe(
              Layer.provideMerge(Layer.provideMerge(Wakes.layer, Storage.layer({ url }))),
              Layer.provideMerge(Layer.succeed(Duties.Options, Duties.defaults))
            )
          )
          const processes = yield* Effect.all(
            [processOf, processOf, processOf].map((one) => Layer.build(one))
          )
          const company = CompanyId.make(yield* Id.make)
          const runs: Array<string> = []
          const work = (key: string) =>
            Effect.sync(() => {
              runs.push(key)
              return `"${key} ${runs.length}"`
            })
          const keys = ["order-1", "order-2", "order-3"]
          const calls = processes.flatMap((process) =>
            Array.from({ length: 8 }, () => keys).flatMap((all) =>
              all.map((key) => Effect.provideContext(RunOnce.run(company, key, work(key)), process))
            )
          )
          const results = yield* Effect.all(calls, { concurrency: "unbounded" })
          assert.sameMembers(runs, keys)
          assert.lengthOf(new Set(results), keys.length)
          const outside = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
          const sql = yield* Effect.provideContext(SqlClient.SqlClient, outside)
          assert.deepStrictEqual(yield* sql`select kind from satrail.tasks`, [])
        }).pipe(Effect.scoped)
    )
  }
)
