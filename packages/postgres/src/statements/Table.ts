import type * as Noun from "@satrail/core/ledger/Noun"
import * as Decoding from "./Decoding.ts"

/** What a column holds. */
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

// Every value is read as text: what a client makes of a bigint or of JSON differs from client to client, and a host may have changed it.
const readers: { readonly [kind in Kind]: (text: string) => unknown } = {
  uuid: text,
  text,
  choice: text,
  msat: BigInt,
  millis: Number,
  integer: Number,
  json: (text) => JSON.parse(text)
}

/** A row on its way into a statement: one object of its JSON parameter. */
export type Row = Readonly<Record<string, unknown>>

/** A table as statements see it. */
export interface Columns {
  readonly name: string
  /** `a, b, c`: for an insert. */
  readonly columns: string
  /** `a text, b bigint`: for reading rows out of JSON. */
  readonly definition: string
  /** `t.a::text as "a"`: for a select that `ofRow` reads. */
  readonly selected: string
  /** Whether the row `t` was created by what `a` asks for: compares what never changes in a record's life. */
  readonly asAsked: string
  /** All of the row `of`, for a comparison with another one: `t.a, t.b::text`. */
  readonly compared: (of: string) => string
}

/** A kind of record and its table. A member `createdAtMillis` is the column `created_at_millis`. */
export interface Table<A> extends Columns {
  readonly toRow: (record: A) => Row
  readonly ofRow: (row: unknown) => A
}

/** The column of a member: `created_at_millis` of `createdAtMillis`. */
export const columnOf = (member: string): string => member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The type of a column, by what it holds. */
export const typeOf = (kind: Kind): string => sqlTypes[kind]

/** The type of a member as a key by which a row is found. */
export const keyOf = ({ members }: Noun.Members, of: string): "uuid" | "text" | "integer" => {
  const kind = members.find(([member]) => member === of)?.[1]
  return kind === "uuid" || kind === "integer" ? kind : "text"
}

/** A value on its way into a statement: a number in JSON stops at 2^53. */
export const put = (value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

/** The table of a kind of record, under its own name or that of something that is selected. */
export const of = <A extends object>({ name, schema, members, moving }: Noun.Members<A>, table = `satrail.${name}`): Table<A> => {
  const columns = members.map(([member, kind]) => ({ member, kind, column: columnOf(member) }))
  // JSON has no equality in SQL, and what was asked for twice is the same text twice.
  const comparable = columns.map(({ member, column, kind }) => ({ member, column: kind === "json" ? `${column}::text` : column }))
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
        // What is left out is null.
        if (value !== null) row[column] = put(value)
      }
      return row
    },
    ofRow: (row) => decode(typeof row === "object" && row !== null ? row : {})
  }
}
