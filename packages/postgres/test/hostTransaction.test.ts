import { assert, it } from "@effect/vitest"
import { companyWith } from "@satrail/contracts/Fixtures"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as HostTransaction from "../src/client/HostTransaction.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Embedded from "./Embedded.ts"

it.live(
  "storage: a write inside the application's transaction fails with a named error, and nothing in the transaction is stored",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table host_orders (id int)`
      const exit = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`insert into host_orders values (1)`, companyWith(100)))
      )
      const refusal = Exit.isFailure(exit)
        ? Cause.squash(exit.cause)
        : assert.fail("the write committed on its own")
      assert.instanceOf(refusal, HostTransaction.WriteInTransaction)
      assert.include(String(refusal), "cannot be written inside sql.withTransaction")
      assert.deepStrictEqual(yield* sql`select id from host_orders`, [])
      assert.deepStrictEqual(yield* sql`select id from satrail.companies`, [])
      yield* companyWith(100)
      assert.lengthOf(yield* sql`select id from satrail.companies`, 1)
    }).pipe(Effect.provide(Layer.provideMerge(Storage.layerClient(), Embedded.layer)), Effect.scoped)
)
