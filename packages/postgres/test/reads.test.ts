import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { compiler } from "../src/client/PgClient.ts"
import { connection, Patience } from "../src/client/PgConnection.ts"
import * as Reads from "../src/statements/Reads.ts"

/** A client that responds to each query with the time limit under which it was sent. */
const client = Layer.effect(
  SqlClient.SqlClient,
  SqlClient.make({
    driver: "test",
    acquirer: Effect.succeed(
      connection(() =>
        Effect.map(Patience, (millis) => ({ command: "", rowCount: 1, oid: 0, fields: [], rows: [millis] }))
      )
    ),
    compiler,
    spanAttributes: []
  })
).pipe(Layer.provide(Reactivity.layer))

const limits = (...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) =>
    Effect.flatMap(Reads.many("test", { text, values: () => [], read: (row) => row }), (asked) => asked())
  ).pipe(Effect.scoped, Effect.provide(client))

it.effect(
  "reads: a read has a time limit, and a statement that changes rows has none, because a commit must not be canceled",
  () =>
    Effect.gen(function* () {
      const reads = ["select 1", "select updated_at_millis from satrail.lightning_addresses"]
      assert.deepStrictEqual(yield* limits(...reads), [[10_000], [10_000]])
      const writes = [
        "insert into t values (1)",
        "with gone as (delete from t returning *) select * from gone",
        "update t set n = 1"
      ]
      assert.deepStrictEqual(yield* limits(...writes), [[Infinity], [Infinity], [Infinity]])
    })
)
