import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Found, Position } from "@satrail/core/ledger/Page"
import { Effect } from "effect"
import * as Reads from "./Reads.ts"
import type * as Table from "./Table.ts"

// Pages of filtered rows. A page checks a limited number of index rows; if it isn't full by then, it returns
// where it stopped. Parameters are named in these texts, as `{limit}`, because the set of parameters depends
// on the index.

/**
 * Rows `r` in the order of an index: `where` is the index condition, `picked` the filter on the rows checked.
 */
export interface Part {
  readonly columns: string
  readonly from: string
  readonly where: string
  readonly order: string
  readonly picked: string
}

// The window function streams rows and `limit` ends the scan, so no unneeded row is read. Without an outer
// order, rows keep that of the innermost query.
/** The filtered rows of a part, and the last row checked if the scan ended there. */
export const part = ({ columns, from, where, order, picked }: Part): string => `(
  select * from (
    select ${columns}, coalesce(${picked}, false) as is_picked, row_number() over () = {looks}::bigint as is_last
    from (select r.* from ${from} where ${where} order by ${order} limit {looks}::bigint) r
  ) w where is_picked or is_last limit {limit}::bigint
)`

type Values = Readonly<Record<string, string | null>>

/** An order of rows: negative if the first sorts before the second, and the same order in SQL. */
interface Order {
  readonly compare: (a: Position, b: Position) => number
  readonly sql: string
}

// Each part is a page. The first rows of all parts together are enough: if the newest row at which a part
// stopped is not among them, no filtered row before it is missing.
const together = (parts: ReadonlyArray<string>, { sql }: Order): string =>
  parts.length === 1
    ? parts.join()
    : `(select * from (${parts.join(" union all ")}) u order by ${sql} limit {limit}::bigint)`

/** Returns a page of all parts together, in this order. `more` is a column computed only for rows `t` of the page. */
export const picking = <A extends Position>(
  operation: string,
  table: Table.Table<A>,
  parts: ReadonlyArray<string>,
  order: Order,
  more?: string
) => {
  const page =
    more === undefined ? together(parts, order) : `(select t.*, ${more} from ${together(parts, order)} t)`
  // The last column is null for most rows, which match the filter and are not the last one.
  const template = `select ${table.selected}, case when t.is_last then t.is_picked::text end from ${page} t`
  const names = [...new Set(Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name))]
  const rows = Reads.values(operation, {
    text: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${names.indexOf(name) + 1}`),
    values: (values: Values) => names.map((name) => values[name] ?? null)
  })
  return Effect.map(
    rows,
    (read) =>
      (values: Values, limit: number, looks: number): Effect.Effect<Found<A>, StoreUnavailable> =>
        Effect.map(read({ ...values, limit: String(limit), looks: String(looks) }), (found) => {
          const lasts = found.filter((row) => row.at(-1) !== null)
          const [stopped] = lasts.map(table.ofValues).toSorted(order.compare)
          const matching = found.filter((row) => row.at(-1) !== "false").map(table.ofValues)
          // Results beyond the newest row at which a part stopped are incomplete.
          const picked =
            stopped === undefined ? matching : matching.filter((row) => order.compare(row, stopped) <= 0)
          const lookedTo =
            picked.length < limit && stopped !== undefined
              ? { createdAtMillis: stopped.createdAtMillis, id: stopped.id }
              : null
          return { rows: picked.toSorted(order.compare).slice(0, limit), lookedTo }
        })
  )
}

/** More rows than a table can have, for unlimited scans. */
export const all = 2 ** 53

const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

export const byId: Order = { compare: (a, b) => compare(b.id, a.id), sql: "id desc" }

export const byTime: Order = {
  compare: (a, b) => compare(b.createdAtMillis, a.createdAtMillis) || byId.compare(a, b),
  sql: "created_at_millis desc, id desc"
}
