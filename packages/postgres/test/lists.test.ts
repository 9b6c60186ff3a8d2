import { assert, layer } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Records } from "@satrail/core/service/Records"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Embedded from "./Embedded.ts"

const companyId = CompanyId.make("018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d")
const rows = 20_000

/** The number of index pages that a read uses. */
const pagesOf = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const pages = Effect.gen(function* () {
      yield* sql`select pg_stat_force_next_flush()`
      const [row] = yield* sql<{ readonly pages: string }>`
        select (idx_blks_read + idx_blks_hit)::text as pages from pg_statio_user_indexes where indexrelname = 'deposits_listed'`
      return Number(row?.pages)
    })
    const before = yield* pages
    yield* read
    return (yield* pages) - before
  })

layer(Storage.layerClient().pipe(Layer.provideMerge(Embedded.layer)), { excludeTestServices: true })(
  "lists in a database",
  (it) => {
    it.effect("lists: a list of an old period doesn't read the newer rows", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(`
insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, absorbed, revision, created_at_millis, updated_at_millis)
select gen_random_uuid(), '${companyId}', gen_random_uuid(), 'x', 1, 'regtest', 'lightning', 'settled', 0, 0, n, n from generate_series(1, ${rows}) n`)
        const { transactions } = yield* Records
        const listed = (createdBeforeMillis: number) =>
          transactions(companyId, { limit: 10, createdBeforeMillis })
        yield* listed(11)
        const newest = yield* pagesOf(listed(rows + 1))
        assert.isAbove(newest, 0)
        assert.isAtMost(yield* pagesOf(listed(11)), newest + 2)
      })
    )
  }
)
