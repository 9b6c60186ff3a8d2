import { Schema } from "effect"

/** What a column holds. `msat` is a bigint here and there, `millis` a number here and a bigint there. */
export type Kind = "uuid" | "text" | "msat" | "millis" | "integer" | "json"

const sqlTypes: { readonly [kind in Kind]: string } = {
  uuid: "uuid",
  text: "text",
  msat: "bigint",
  millis: "bigint",
  integer: "integer",
  json: "json"
}

// Every value is read as text: what a client makes of a bigint or of JSON differs from client to client, and a host may have changed it.
const readers: { readonly [kind in Kind]: (text: string) => unknown } = {
  uuid: (text) => text,
  text: (text) => text,
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
}

/** A kind of record and its table. A member `createdAtMillis` is the column `created_at_millis`. */
export interface Table<A> extends Columns {
  readonly toRow: (record: A) => Row
  readonly ofRow: (row: unknown) => A
}

const snake = (member: string): string => member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `moving` are the members that a record's life changes: all others are what was asked for. */
export const make = <A extends object>(
  name: string,
  schema: Schema.Codec<A, unknown>,
  options: {
    readonly columns: { readonly [member in keyof A & string]-?: Kind }
    readonly moving: ReadonlyArray<keyof A & string>
  }
): Table<A> => {
  const kinds: ReadonlyArray<readonly [string, Kind]> = Object.entries(options.columns)
  const columns = kinds.map(([member, kind]) => ({ member, kind, column: snake(member) }))
  const moving = new Set<string>(options.moving)
  // JSON has no equality in SQL, and what was asked for twice is the same text twice.
  const fixed = columns
    .filter(({ member }) => !moving.has(member))
    .map(({ column, kind }) => (kind === "json" ? `${column}::text` : column))
  const check = Schema.decodeUnknownSync(schema)
  const read = (row: Row, member: string, kind: Kind) => {
    const text = row[member]
    return typeof text === "string" ? readers[kind](text) : text
  }
  return {
    name,
    columns: columns.map(({ column }) => column).join(", "),
    definition: columns.map(({ column, kind }) => `${column} ${sqlTypes[kind]}`).join(", "),
    selected: columns.map(({ column, member }) => `t.${column}::text as "${member}"`).join(", "),
    asAsked: `(${fixed.map((column) => `t.${column}`).join(", ")}) is not distinct from (${fixed.map((column) => `a.${column}`).join(", ")})`,
    toRow: (record) => {
      const row: Record<string, unknown> = {}
      const values = new Map<string, unknown>(Object.entries(record))
      for (const { member, column } of columns) {
        const value = values.get(member)
        // What is left out is null; a number in JSON stops at 2^53.
        if (value !== null) row[column] = typeof value === "bigint" ? String(value) : value
      }
      return row
    },
    ofRow: (row) => {
      const texts: Row = { ...Object(row) }
      return check(Object.fromEntries(columns.map(({ member, kind }) => [member, read(texts, member, kind)])))
    }
  }
}
