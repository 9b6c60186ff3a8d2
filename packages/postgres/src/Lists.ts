import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Found, Position } from "@satrail/core/ledger/Page"
import { Effect, Schema } from "effect"
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

const Flags = Schema.decodeUnknownSync(
  Schema.Struct({ isPicked: Schema.Literals(["true", "false"]), isLast: Schema.Literals(["true", "false"]) })
)

type Values = Readonly<Record<string, string | null>>

/** A page of all parts together, in the order of `newest`: negative when its first comes before its second. */
export const picking = <A extends Position>(
  operation: string,
  table: Table.Table<A>,
  parts: ReadonlyArray<string>,
  newest: (a: Position, b: Position) => number
) => {
  const template = `select ${table.selected}, t.is_picked::text as "isPicked", t.is_last::text as "isLast" from (${parts.join(" union all ")}) t`
  const names = [...new Set(Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name))]
  const rows = Reads.many(operation, {
    text: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${names.indexOf(name) + 1}`),
    values: (values: Values) => names.map((name) => values[name] ?? null),
    read: (row) => {
      const { isPicked, isLast } = Flags(row)
      return { row: table.ofRow(row), isPicked: isPicked === "true", isLast: isLast === "true" }
    }
  })
  return Effect.map(
    rows,
    (read) =>
      (values: Values, limit: number, looks: number): Effect.Effect<Found<A>, StoreUnavailable> =>
        Effect.map(read({ ...values, limit: String(limit), looks: String(looks) }), (found) => {
          // Beyond the newest of the rows at which a part stopped, not all is known.
          const [stopped] = found.flatMap(({ row, isLast }) => (isLast ? [row] : [])).toSorted(newest)
          const picked = found.flatMap(({ row, isPicked }) =>
            isPicked && (stopped === undefined || newest(row, stopped) <= 0) ? [row] : []
          )
          const lookedTo =
            picked.length < limit && stopped !== undefined ? { createdAtMillis: stopped.createdAtMillis, id: stopped.id } : null
          return { rows: picked.toSorted(newest).slice(0, limit), lookedTo }
        })
  )
}

/** More than there are: for who looks at everything. */
export const all = 2 ** 53

const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

/** By id alone. */
export const byId = (a: Position, b: Position): number => compare(b.id, a.id)

/** By time, and at one time by id. */
export const byTime = (a: Position, b: Position): number => compare(b.createdAtMillis, a.createdAtMillis) || byId(a, b)
