import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Nouns from "@satrail/service/core/Nouns"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as Table from "../src/statements/Table.ts"
import * as Embedded from "./Embedded.ts"
import { shared } from "./Shared.ts"

/** Columns that are not fields of a record. Statements of this package maintain them. */
const besides: Readonly<Record<string, ReadonlyArray<string>>> = { withdrawals: ["follows uuid"] }

const columns = Effect.gen(function* () {
  yield* Migrations.migrate
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly table: string; readonly column: string }>`
    select table_name as "table", column_name || ' ' || data_type as "column" from information_schema.columns where table_schema = 'satrail'`
  return Map.groupBy(rows, ({ table }) => table)
})

/** The columns of each unique index in the schema, by table. */
const uniqueNames = Effect.gen(function* () {
  yield* Migrations.migrate
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly table: string; readonly names: string }>`
    select t.relname as "table", (
      select string_agg(a.attname, ',' order by k.place) from unnest(i.indkey) with ordinality as k(number, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    ) as names
    from pg_index i join pg_class t on t.oid = i.indrelid join pg_namespace s on s.oid = t.relnamespace
    where s.nspname = 'satrail' and i.indisunique`
  return new Set(rows.map(({ table, names }) => `${table} ${names}`))
})

it.layer(await shared(Embedded.layer), { excludeTestServices: true })("nouns", (it) => {
  it.effect("nouns: the declared fields match the table's columns and their types", () =>
    Effect.gen(function* () {
      const found = yield* columns
      assert.isAbove(Nouns.all.length, 10)
      for (const noun of Nouns.all) {
        const declared = [...Table.of(noun).definition.split(", "), ...(besides[noun.name] ?? [])]
        const inTable = (found.get(noun.name) ?? []).map(({ column }) => column)
        assert.deepStrictEqual(declared.toSorted(), inTable.toSorted(), noun.name)
      }
    })
  )

  it.effect("nouns: every unique name has a unique index", () =>
    Effect.gen(function* () {
      const indexes = yield* uniqueNames
      const names = Nouns.all.flatMap((noun) =>
        "unique" in noun ? noun.unique.map((members) => ({ noun: noun.name, members })) : []
      )
      assert.isAbove(names.length, 5)
      for (const { noun, members } of names) {
        const index = `${noun} ${members.map(Table.columnOf).join()}`
        assert.isTrue(indexes.has(index), index)
      }
    })
  )
})
