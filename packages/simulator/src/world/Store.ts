import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { Records } from "@satrail/core/service/Records"
import * as Memory from "@satrail/service/memory/Memory"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as Storage from "@satrail/service/postgres/Storage"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"

export type Ports = Journal | Records | Tasks

/** A store used by one simulation after another. */
export interface Store {
  readonly name: Name
  /** Returns the three ports over an empty store. Ports returned before can no longer be used. */
  readonly empty: () => Promise<Context.Context<Ports>>
  readonly close: () => Promise<void>
}

export const names = ["memory", "pglite"] as const
export type Name = (typeof names)[number]

const memory: Store = {
  name: "memory",
  empty: () => Effect.runPromise(Effect.scoped(Layer.build(Layer.fresh(Memory.layer)))),
  close: () => Promise.resolve()
}

/** One database in this process for all simulations, because starting one takes seconds. */
const pglite = async (): Promise<Store> => {
  const scope = Scope.makeUnsafe()
  const client = await Effect.runPromise(Layer.buildWithScope(PgliteClient.layer(), scope))
  const storage = Layer.provide(Storage.layerClient(), Layer.succeedContext(client))
  const ports = await Effect.runPromise(Layer.buildWithScope(storage, scope))
  const sql = Context.get(client, SqlClient.SqlClient)
  const tables = await Effect.runPromise(
    sql<{
      readonly name: string
    }>`select tablename as name from pg_tables where schemaname = 'satrail' and tablename not like '%migrations%'`
  )
  const all = tables.map(({ name }) => `satrail."${name}"`).join(", ")
  // Some tables have initial rows.
  await Effect.runPromise(sql`create schema pristine`)
  for (const { name } of tables)
    await Effect.runPromise(sql.unsafe(`create table pristine."${name}" as table satrail."${name}"`))
  const restored = tables
    .map(({ name }) => `insert into satrail."${name}" overriding system value table pristine."${name}"`)
    .join("; ")
  return {
    name: "pglite",
    empty: () =>
      Effect.runPromise(
        Effect.as(sql.unsafe(`truncate ${all} restart identity cascade; ${restored}`).unprepared, ports)
      ),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

export const open = (name: Name): Promise<Store> => (name === "memory" ? Promise.resolve(memory) : pglite())
