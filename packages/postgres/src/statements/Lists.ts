import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Found, Position } from "@satrail/core/ledger/Page"
import { Effect } from "effect"
import * as Reads from "./Reads.ts"
import type * as Table from "./Table.ts"

// Pages of rows that are picked among others. A page looks at so many rows of an index and no more: if it has not enough by then, it says where it stopped.
// Parameters have names in these texts, `{limit}`, since which of them there are depends on the index.

/** Rows `r`, in the order of an index: `where` is what the index is asked for, `picked` what is left out of what was looked at. */
export interface Part {
  readonly columns: string
  readonly from: string
  readonly where: string
  readonly order: string
  readonly picked: string
}

// The window function takes rows as they come, and its `limit` ends the look: no row is read that is not needed. What is in no order here is in that of the innermost.
/** The rows of a part that are picked, and the last one that was looked at, where the look ended there. */
export const part = ({ columns, from, where, order, picked }: Part): string => `(
  select * from (
    select ${columns}, coalesce(${picked}, false) as is_picked, row_number() over () = {looks}::bigint as is_last
    from (select r.* from ${from} where ${where} order by ${order} limit {looks}::bigint) r
  ) w where is_picked or is_last limit {limit}::bigint
)`

type Values = Readonly<Record<string, string | null>>

/** An order of rows: negative when the first comes before the second, and the same for PostgreSQL. */
interface Order {
  readonly compare: (a: Position, b: Position) => number
  readonly sql: string
}

// Several parts are as many pages. Of them together the first rows are enough: where the newest row at which a part stopped is not among these, none of them was
// left out of what was picked.
const together = (parts: ReadonlyArray<string>, { sql }: Order): string =>
  parts.length === 1 ? parts.join() : `(select * from (${parts.join(" union all ")}) u order by ${sql} limit {limit}::bigint)`

/** A page of all parts together, in this order. */
export const picking = <A extends Position>(operation: string, table: Table.Table<A>, parts: ReadonlyArray<string>, order: Order) => {
  // Of most rows the last column is null: they are picked, and not the last.
  const template = `select ${table.selected}, case when t.is_last then t.is_picked::text end as "lastIsPicked" from ${together(parts, order)} t`
  const names = [...new Set(Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name))]
  const rows = Reads.many(operation, {
    text: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${names.indexOf(name) + 1}`),
    values: (values: Values) => names.map((name) => values[name] ?? null),
    read: (row) => {
      const { lastIsPicked = null }: { readonly lastIsPicked?: unknown } = Object(row)
      return { row: table.ofRow(row), isPicked: lastIsPicked !== "false", isLast: lastIsPicked !== null }
    }
  })
  return Effect.map(
    rows,
    (read) =>
      (values: Values, limit: number, looks: number): Effect.Effect<Found<A>, StoreUnavailable> =>
        Effect.map(read({ ...values, limit: String(limit), looks: String(looks) }), (found) => {
          // Beyond the newest of the rows at which a part stopped, not all is known.
          const [stopped] = found.flatMap(({ row, isLast }) => (isLast ? [row] : [])).toSorted(order.compare)
          const picked = found.flatMap(({ row, isPicked }) =>
            isPicked && (stopped === undefined || order.compare(row, stopped) <= 0) ? [row] : []
          )
          const lookedTo =
            picked.length < limit && stopped !== undefined ? { createdAtMillis: stopped.createdAtMillis, id: stopped.id } : null
          return { rows: picked.toSorted(order.compare).slice(0, limit), lookedTo }
        })
  )
}

/** More than there are: for who looks at everything. */
export const all = 2 ** 53

const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

/** By id alone. */
export const byId: Order = { compare: (a, b) => compare(b.id, a.id), sql: "id desc" }

/** By time, and at one time by id. */
export const byTime: Order = {
  compare: (a, b) => compare(b.createdAtMillis, a.createdAtMillis) || byId.compare(a, b),
  sql: "created_at_millis desc, id desc"
}
