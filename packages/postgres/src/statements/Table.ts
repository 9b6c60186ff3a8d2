import * as Noun from "@satrail/core/ledger/Noun"
import * as Decoding from "./Decoding.ts"

export type Kind = Noun.Kind

const sqlTypes: { readonly [kind in Kind]: string } = {
  uuid: "uuid",
  text: "text",
  choice: "text",
  msat: "bigint",
  millis: "bigint",
  integer: "integer",
  json: "json"
}

const text = (value: string): string => value

// Every value is read as text, because clients parse bigint and JSON differently, and a host may have
// configured its own parsers.
const readers: { readonly [kind in Kind]: (text: string) => unknown } = {
  uuid: text,
  text,
  choice: text,
  msat: BigInt,
  millis: Number,
  integer: Number,
  json: (text) => JSON.parse(text)
}

/** A row passed to a statement: one object of its JSON parameter. */
export type Row = Readonly<Record<string, unknown>>

/** A table as statements use it. */
export interface Columns {
  readonly name: string
  /** `a, b, c`, for an insert. */
  readonly columns: string
  /** `a text, b bigint`, for reading rows from JSON. */
  readonly definition: string
  /** `t.a::text as "a"`, for a select that `ofRow` reads. */
  readonly selected: string
  /** Condition that is true if the row `t` was created by the request `a`. Compares the fields that never change. */
  readonly asAsked: string
  /** All columns of the row `of`, for comparing it with another: `t.a, t.b::text`. */
  readonly compared: (of: string) => string
}

/** A record type and its table. The field `createdAtMillis` is the column `created_at_millis`. */
export interface Table<A> extends Columns {
  readonly toRow: (record: A) => Row
  readonly ofRow: (row: unknown) => A
  /** Same as `ofRow`, from the values of the columns in `selected`, in that order. More values may follow. */
  readonly ofValues: (values: ReadonlyArray<unknown>) => A
}

export const { columnOf } = Noun

export const typeOf = (kind: Kind): string => sqlTypes[kind]

/** Returns the type of a field that is used as a key. */
export const keyOf = ({ members }: Noun.Members, of: string): "uuid" | "text" | "integer" | "bigint" => {
  const kind = members.find(([member]) => member === of)?.[1]
  if (kind === "msat") return "bigint"
  return kind === "uuid" || kind === "integer" ? kind : "text"
}

/** Converts a value for JSON, whose numbers are exact only up to 2^53. */
export const put = (value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

/** The table of a record type, under its own name or another one, such as the name of a selection. */
export const of = <A extends object>(
  { name, schema, members, moving }: Noun.Members<A>,
  table = `satrail.${name}`
): Table<A> => {
  const columns = members.map(([member, kind]) => ({ member, kind, column: columnOf(member) }))
  // JSON has no equality in SQL, but the same request has the same text.
  const comparable = columns.map(({ member, column, kind }) => ({
    member,
    column: kind === "json" ? `${column}::text` : column
  }))
  const fixed = comparable.filter(({ member }) => !moving.has(member)).map(({ column }) => column)
  const decode = Decoding.make(
    schema,
    columns.map(({ member, kind }) => ({ member, read: readers[kind] }))
  )
  return {
    name: table,
    columns: columns.map(({ column }) => column).join(", "),
    definition: columns.map(({ column, kind }) => `${column} ${sqlTypes[kind]}`).join(", "),
    selected: columns.map(({ column, member }) => `t.${column}::text as "${member}"`).join(", "),
    asAsked: `(${fixed.map((column) => `t.${column}`).join(", ")}) is not distinct from (${fixed.map((column) => `a.${column}`).join(", ")})`,
    compared: (of) => comparable.map(({ column }) => `${of}.${column}`).join(", "),
    toRow: (record) => {
      const row: Record<string, unknown> = {}
      for (const { member, column } of columns) {
        const value: unknown = Reflect.get(record, member)
        // Missing values are null.
        if (value !== null) row[column] = put(value)
      }
      return row
    },
    ofRow: (row) =>
      decode(
        members.map(([member]) =>
          typeof row === "object" && row !== null ? Reflect.get(row, member) : undefined
        )
      ),
    ofValues: decode
  }
}
