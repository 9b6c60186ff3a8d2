import { Equal, Effect, HashMap, Layer, ManagedRuntime, Ref } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiKey } from "@satrail/core/ApiKey"
import * as Memory from "@satrail/memory/Memory"
import * as State from "@satrail/memory/State"
import * as Storage from "@satrail/postgres/Storage"

/** A store, and somebody who looks at everything in it. */
export interface Store {
  readonly layer: typeof Memory.layer
  /** What there is now, by the name of its kind; what compares as equal is the same. */
  readonly look: () => Promise<ReadonlyMap<string, unknown>>
  readonly close: () => Promise<void>
}

/** Which kinds are not as they were. That a key was used is noted at any time: nobody asked for that. */
export const differences = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): ReadonlyArray<string> =>
  [...after.keys()].filter((name) => !Equal.equals(before.get(name), after.get(name)))

// Looked at before and after every request: only keys that changed hands are worth a second look.
const unused = new WeakMap<object, unknown>()
const withoutUse = (keys: HashMap.HashMap<string, ApiKey>): unknown => {
  const known = unused.get(keys)
  if (known !== undefined) return known
  const made = HashMap.map(keys, (key) => ({ ...key, lastUsedAtMillis: null }))
  unused.set(keys, made)
  return made
}

/** One state in memory: what is not the very same object has changed. */
export const memory = (): Store => {
  const state = Ref.makeUnsafe(State.empty)
  return {
    layer: Layer.provide(Memory.layer, Layer.succeed(Memory.Held, state)),
    look: async () => {
      const now = Ref.getUnsafe(state)
      return new Map(Object.entries<unknown>({ ...now, apiKeys: withoutUse(now.apiKeys) }))
    },
    close: async () => {}
  }
}

const tables = "select table_name as name from information_schema.tables where table_schema = 'satrail' and table_type = 'BASE TABLE'"
// A row that was written anew has the number of a later transaction.
const rowsOf = (table: string) =>
  table === "api_keys"
    ? `select '${table}' as name, string_agg((to_jsonb(k) - 'last_used_at_millis')::text, ',' order by id) as rows from satrail.${table} k`
    : `select '${table}' as name, count(*) || ' up to ' || coalesce(max(xmin::text::bigint), 0) as rows from satrail.${table}`

/** A database: every row of every table counts. */
export const database = (client: Layer.Layer<SqlClient.SqlClient, unknown>): Store => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(Storage.layerClient(), client))
  const statement = Effect.cached(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(sql.unsafe<{ readonly name: string }>(tables), (all) => all.map(({ name }) => rowsOf(name)).join(" union all "))
    )
  ).pipe(Effect.runSync)
  const look = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const found = yield* sql.unsafe<{ readonly name: string; readonly rows: string }>(yield* statement)
    return new Map(found.map(({ name, rows }) => [name, rows]))
  })
  return {
    layer: Layer.effectContext(Effect.orDie(runtime.contextEffect)),
    look: () => runtime.runPromise(look),
    close: () => runtime.dispose()
  }
}
