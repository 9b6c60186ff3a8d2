import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Holding from "../src/reads/Holding.ts"
import * as Embedded from "./Embedded.ts"

layer(Embedded.layer, { excludeTestServices: true })("holds", (it) => {
  it.effect("holds: without features that hold money, backlog, books and verification find no holds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const none = Holding.make([])
      const id = "'00000000-0000-0000-0000-000000000000'::uuid"
      const sums = `select coalesce(sum(h.whole), 0)::text as whole, count(h.transfer_id)::text as transfers from (${none.ofCompany(id)}) h`
      assert.deepStrictEqual(yield* sql.unsafe(sums), [{ whole: "0", transfers: "0" }])
      const item = `select 'x' as kind, ${id} as id, ${id} as company_id, 1::bigint as at_millis, 2::bigint as amount, null as job, null as lane, 3::bigint as due, 4 as attempts`
      const items = `select count(*)::text as count from (${item} union all ${none.waiting} union all ${item}) t`
      assert.deepStrictEqual(yield* sql.unsafe(items), [{ count: "2" }])
    })
  )
})
