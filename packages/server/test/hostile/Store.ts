import type * as Memory from "@satrail/service/memory/Memory"
import * as Storage from "@satrail/service/postgres/Storage"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import * as Watched from "../../../http/test/Watched.ts"

/** A store, and a function that reads everything in it. */
export interface Store {
  readonly layer: typeof Memory.layer
  readonly look: () => Promise<Watched.Recorded>
  readonly close: () => Promise<void>
}

/** A store in memory. */
export const memory = (): Store => {
  const { layer, look } = Watched.memory()
  return { layer, look: async () => look(), close: async () => {} }
}

const tables =
  "select table_name as name from information_schema.tables where table_schema = 'satrail' and table_type = 'BASE TABLE'"
// `xmin` changes whenever a row is rewritten.
const rowsOf = (table: string) =>
  table === "api_keys"
    ? `select '${table}' as name, string_agg((to_jsonb(k) - 'last_used_at_millis')::text, ',' order by id) as rows from satrail.${table} k`
    : `select '${table}' as name, count(*) || ' up to ' || coalesce(max(xmin::text::bigint), 0) as rows from satrail.${table}`

/** A database. Every row of every table is compared. */
export const database = (client: Layer.Layer<SqlClient.SqlClient, unknown>): Store => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(Storage.layerClient(), client))
  const statement = Effect.cached(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(sql.unsafe<{ readonly name: string }>(tables), (all) =>
        all.map(({ name }) => rowsOf(name)).join(" union all ")
      )
    )
  ).pipe(Effect.runSync)
  let known: { readonly snapshot: string; readonly rows: Watched.Recorded } | undefined
  const look = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [now] = yield* sql<{ readonly snapshot: string }>`select pg_current_snapshot()::text as snapshot`
    // Every writing transaction has a number. If none has begun or ended since, every row is unchanged.
    if (known !== undefined && known.snapshot === now?.snapshot) return known.rows
    const found = yield* sql.unsafe<{ readonly name: string; readonly rows: string }>(yield* statement)
    const rows = new Map<string, unknown>(found.map(({ name, rows }) => [name, rows]))
    known = { snapshot: now?.snapshot ?? "", rows }
    return rows
  })
  return {
    layer: Layer.effectContext(Effect.orDie(runtime.contextEffect)),
    look: () => runtime.runPromise(look),
    close: () => runtime.dispose()
  }
}
