import type { Insert, Noun } from "@satrail/core/ledger/Noun"
import * as Table from "./Table.ts"

// Records that a hook adds to Changes of any kind (`Change.inserts`). All records of one type are one column of a Change,
// so that the statement is the same however many there are.

const tables = new WeakMap<Noun, Table.Table<object>>()

const tableOf = (noun: Noun): Table.Table<object> => {
  const known = tables.get(noun)
  if (known !== undefined) return known
  if (noun.labels !== undefined) throw new Error(`${noun.name} has labels, so a hook cannot insert it`)
  const made = Table.of<object>(noun)
  tables.set(noun, made)
  return made
}

/** The column of a Change with its records of this type. */
export const columnOf = ({ name }: Noun): string => `inserts_${name}`

/** The columns of a Change. */
export const rowOf = (inserts: ReadonlyArray<Insert>): Table.Row => {
  const row: Record<string, Array<Table.Row>> = {}
  for (const { noun, record } of inserts) (row[columnOf(noun)] ??= []).push(tableOf(noun).toRow(record))
  return row
}

/** Inserts the records of the Changes that take effect. */
export const written = (noun: Noun): string => {
  const { columns, definition, name } = tableOf(noun)
  return `
inserted_${noun.name} as (
  insert into ${name} (${columns})
  select ${columns.replaceAll(/\b\w+/g, "r.$&")} from done d cross join lateral json_to_recordset(d.${columnOf(noun)}) as r(${definition})
  order by d.n
)`
}
