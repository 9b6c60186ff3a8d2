import { Schema, type SchemaAST } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"

// A record type is declared once: its fields, which of them can change, its unique names and its moves. A store
// derives tables, statements and comparisons from the declaration, so a new record type needs no code in a
// store.

/** Fields of every record: its id, and the company that owns it. */
export interface Row {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
}

/** The type of a field's value, as stores need it. `choice` is one of a fixed set of texts. */
export type Kind = "uuid" | "text" | "choice" | "msat" | "millis" | "integer" | "json"

/** An id that is a UUID. */
export const Id = Schema.String.annotate({ kind: "uuid" })

/** A record's fields, with their types and which of them can change. */
export interface Members<A extends object = object> {
  /** Also the name of its table. */
  readonly name: string
  readonly schema: Schema.Codec<A, unknown>
  readonly members: ReadonlyArray<readonly [member: string, kind: Kind]>
  /** Fields that can change after creation. All others are fixed. */
  readonly moving: ReadonlySet<string>
  /**
   * Fields whose values the audit log records before and after each Change; undefined if there are none. Set
   * for records that grant access.
   */
  readonly recorded?: ReadonlySet<string>
  /** The recorded field with the time from which a record grants nothing, so that it need not match the log. */
  readonly recordedUntil?: string
}

/** Returns the column of a field: `created_at_millis` for `createdAtMillis`. */
export const columnOf = (member: string): string =>
  member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type StructOf<A> = Schema.Codec<A, unknown> & {
  readonly fields: { readonly [member: string]: { readonly ast: SchemaAST.AST } }
}

const kindOfTag: { readonly [tag in SchemaAST.AST["_tag"]]?: Kind } = {
  String: "text",
  BigInt: "msat",
  Number: "integer",
  Objects: "json",
  Arrays: "json"
}

const kindOf = (member: string, ast: SchemaAST.AST): Kind | undefined => {
  if (ast._tag === "Union") {
    const [first] = ast.types
    return first === undefined ? undefined : kindOf(member, first)
  }
  if (ast._tag === "Literal") return typeof ast.literal === "number" ? "integer" : "choice"
  if (ast.annotations?.["kind"] === "uuid") return "uuid"
  // Names of times always end in their unit.
  return ast._tag === "Number" && member.endsWith("Millis") ? "millis" : kindOfTag[ast._tag]
}

/** Declares a record type that no write refers to. Stores have their own code for it. */
export const members = <A extends object>(
  name: string,
  schema: StructOf<A>,
  moving: ReadonlyArray<keyof A & string>,
  recorded?: ReadonlyArray<keyof A & string>
): Members<A> => ({
  ...(recorded && { recorded: new Set(recorded) }),
  name,
  schema,
  members: Object.entries(schema.fields).map(([member, { ast }]) => {
    const kind = kindOf(member, ast)
    if (kind === undefined) throw new Error(`${name}.${member} has a type that stores do not support`)
    return [member, kind]
  }),
  moving: new Set(moving)
})

/** A record type that Changes write. */
export interface Noun<
  A extends Row = Row,
  Refused = unknown,
  Taken = unknown,
  Other = unknown
> extends Members<A> {
  /** Sets of fields whose combined values are unique. Combinations with a null are not compared. */
  readonly unique: ReadonlyArray<ReadonlyArray<string>>
  /**
   * An immutable field that maps keys to texts, such as metadata. Stores index each pair, so that a company's
   * records can be found by it.
   */
  readonly labels?: string
  /** The field with another company that may also read the record. It never changes, and only the owner writes. */
  readonly sharedWith?: string
  /** Returns the refusal if another record has the same unique name. `Conflict` if omitted. */
  taken?(record: A): Taken
  /** Returns the refusal if another record has the same id. `Conflict` if omitted. */
  other?(record: A): Other
  /** Returns the refusal of a move that the record's status does not allow. */
  refused?(id: string, status: string): Refused
}

export const make = <A extends Row, Refused = never, Taken = never, Other = never>(
  name: string,
  schema: StructOf<A>,
  options: {
    readonly moving: ReadonlyArray<keyof A & string>
    readonly recorded?: ReadonlyArray<keyof A & string>
    readonly recordedUntil?: keyof A & string
    readonly unique?: ReadonlyArray<ReadonlyArray<keyof A & string>>
    readonly labels?: keyof A & string
    readonly sharedWith?: keyof A & string
    taken?(record: NoInfer<A>): Taken
    other?(record: NoInfer<A>): Other
    refused?(id: string, status: string): Refused
  }
): Noun<A, Refused, Taken, Other> => {
  const { moving, recorded, unique = [], ...refusals } = options
  return { ...members(name, schema, moving, recorded), unique, ...refusals }
}

/**
 * Creates a record. Inserting the same record again has no effect. A different record with the same id or
 * unique name is refused.
 */
export interface Insert<A extends Row = Row, Taken = unknown, Other = unknown> {
  readonly _tag: "Insert"
  readonly noun: Noun<A, unknown, Taken, Other>
  readonly record: A
}

/** An insert of a record of this type: `InsertOf<typeof noun>`. */
export type InsertOf<N> =
  N extends Noun<infer A, unknown, infer Taken, infer Other> ? Insert<A, Taken, Other> : never

export const insert = <A extends Row, Taken, Other>(
  noun: Noun<A, unknown, Taken, Other>,
  record: A
): Insert<A, Taken, Other> => ({
  _tag: "Insert",
  noun,
  record
})

/** A step in a record's life, declared once, without the values that it sets. */
export interface Move<
  A extends Row = Row,
  Sets extends string = string,
  Expects extends string = string,
  Refused = unknown
> {
  /** Unique among all moves, such as `vouchers claimed`. */
  readonly key: string
  readonly noun: Noun<A>
  /** Statuses in which it applies. Empty: any status. */
  readonly from: ReadonlyArray<string>
  /** Fields that must be null for it to apply. */
  readonly empty: ReadonlyArray<string>
  /** Fields that must be unchanged since the Change read them. */
  readonly expects: ReadonlyArray<Expects>
  /** The resulting status; null if it is unchanged or in `sets`. */
  readonly to: string | null
  /** Fields set to values of the Change. */
  readonly sets: ReadonlyArray<Sets>
  /** Fields set to null. */
  readonly clears: ReadonlyArray<string>
  /** Fields set to the time of the Change. */
  readonly stamps: ReadonlyArray<string>
  /**
   * How to detect that the move has already been applied: the record has one of the statuses `in` (empty: any),
   * the `empty` fields are null, and the `same` fields have the values that this move would set. `otherwise`:
   * the move counts as applied whenever it does not apply.
   */
  readonly again: { readonly in: ReadonlyArray<string>; readonly same: ReadonlyArray<string> } | "otherwise"
  /** If true, the move counts as applied when the record no longer exists. */
  readonly isDoneWhenGone: boolean
  refused?(id: string, status: string): Refused
}

type Status<A> = A extends { readonly status: infer S extends string } ? S : never

/** How to detect that a move has already been applied: see `Move.again`. */
type Again<A> =
  | { readonly in?: ReadonlyArray<Status<A>>; readonly same?: ReadonlyArray<keyof A & string> }
  | "otherwise"

type In<G> = G extends { readonly in: ReadonlyArray<infer S> } ? S : never

/**
 * A move cannot be refused if it depends only on the status and, in every status, either applies or counts as
 * applied.
 */
type RefusedBy<A, From, Held, G, Refused> = G extends "otherwise"
  ? never
  : [Held] extends [never]
    ? [From] extends [never]
      ? never
      : [Exclude<Status<A>, From | In<G>>] extends [never]
        ? G extends { readonly same: ReadonlyArray<unknown> }
          ? Refused
          : never
        : Refused
    : Refused

const declared = new Map<string, string>()

/** Declares a step in a record's life. `name` is unique within the record type and identifies the statement. */
export const move = <
  A extends Row,
  Refused,
  const G extends Again<A>,
  const From extends Status<A> = never,
  const Empty extends keyof A & string = never,
  const Sets extends keyof A & string = never,
  const Expects extends keyof A & string = never
>(
  noun: Noun<A, Refused>,
  name: string,
  options: {
    readonly from?: ReadonlyArray<From>
    readonly empty?: ReadonlyArray<Empty>
    readonly expects?: ReadonlyArray<Expects>
    readonly to?: Status<A>
    readonly sets?: ReadonlyArray<Sets>
    readonly clears?: ReadonlyArray<keyof A & string>
    readonly stamps?: ReadonlyArray<keyof A & string>
    readonly again: G
    readonly isDoneWhenGone?: boolean
  }
): Move<A, Sets, Expects, RefusedBy<A, From, Empty | Expects, G, Refused>> => {
  const {
    from = [],
    empty = [],
    expects = [],
    to = null,
    sets = [],
    clears = [],
    stamps = [],
    again,
    isDoneWhenGone = false
  } = options
  const what = {
    from,
    empty,
    expects,
    to,
    sets,
    clears,
    stamps,
    again: again === "otherwise" ? ("otherwise" as const) : { in: again.in ?? [], same: again.same ?? [] },
    isDoneWhenGone
  }
  const key = `${noun.name} ${name}`
  const content = JSON.stringify(what)
  if ((declared.get(key) ?? content) !== content)
    throw new Error(`${key} is declared twice with different definitions`)
  declared.set(key, content)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- if the type is never, no record can refuse the move
  const refused = noun.refused as ((id: string, status: string) => never) | undefined
  return { key, noun, ...what, ...(refused && { refused }) }
}

/** Applies a move to a record. */
export interface Transition<A extends Row = Row, Refused = unknown, Found extends Row = Row> {
  readonly _tag: "Transition"
  readonly move: Move<A, string, string, Refused>
  /** The record as it was read, as far as known. It contains the fields that the move expects. */
  readonly found: Found
  /** Values for the fields that the move sets. */
  readonly set: object
}

/** The transition of a move: `TransitionOf<typeof life.claimed>`. */
export type TransitionOf<M, Found extends Row = Row> =
  M extends Move<infer A, string, string, infer Refused> ? Transition<A, Refused, Found> : never

export const step = <
  A extends Row,
  Sets extends keyof A & string,
  Expects extends keyof A & string,
  Refused,
  Found extends Row & Pick<A, Expects>
>(
  move: Move<A, Sets, Expects, Refused>,
  found: Found,
  set: Pick<A, Sets>
): Transition<A, Refused, Found> => ({ _tag: "Transition", move, found, set })

/** Returns the fields that a move sets, even to the value that they have. */
export const changedBy = ({ sets, stamps, clears, to }: Move): ReadonlySet<string> =>
  new Set([...sets, ...stamps, ...clears, ...(to === null ? [] : ["status"])])

/** Returns a field's new value; undefined if the transition does not change it. */
const become = ({ move, set }: Transition, member: string, atMillis: number): unknown => {
  if (move.sets.includes(member)) return Reflect.get(set, member)
  if (move.stamps.includes(member)) return atMillis
  if (move.clears.includes(member)) return null
  return member === "status" && move.to !== null ? move.to : undefined
}

/** Returns the record after this transition. */
export const after = <A extends Row>(row: A, transition: Transition<A>, atMillis: number): A => {
  const changed: Record<string, unknown> = {}
  for (const [member] of transition.move.noun.members) {
    const value = become(transition, member, atMillis)
    if (value !== undefined) changed[member] = value
  }
  return { ...row, ...changed }
}

/**
 * Sets times of another record to the time of the Change, if the Change applies. This write has no conditions.
 * With `id: null`, it does nothing.
 */
export interface Touch {
  readonly _tag: "Touch"
  readonly noun: Noun
  readonly stamps: ReadonlyArray<string>
  readonly companyId: CompanyId.CompanyId
  readonly id: string | null
}

/** The audit log has no entry for a write that does not read its record. */
const checkUnlogged = ({ name, recorded }: Members, fields: ReadonlyArray<string>) => {
  const logged = fields.find((field) => recorded?.has(field) === true)
  if (logged !== undefined) throw new Error(`${name}.${logged} is recorded, so only a move can change it`)
}

export const touch = <A extends Row>(noun: Noun<A>, stamps: ReadonlyArray<keyof A & string>) => {
  checkUnlogged(noun, stamps)
  return (companyId: CompanyId.CompanyId, id: string | null): Touch => ({
    _tag: "Touch",
    noun,
    stamps,
    companyId,
    id
  })
}

/**
 * Adds to an amount of another record, if the Change applies. This write has no conditions; the table's
 * constraints limit the result.
 */
export interface Add {
  readonly _tag: "Add"
  readonly noun: Noun
  readonly member: string
  readonly companyId: CompanyId.CompanyId
  readonly id: string
  /** Negative to subtract. */
  readonly amount: bigint
}

type AmountsOf<A> = {
  readonly [member in keyof A & string]: A[member] extends bigint ? member : never
}[keyof A & string]

export const add = <A extends Row>(noun: Noun<A>, member: AmountsOf<A>) => {
  checkUnlogged(noun, [member])
  return (companyId: CompanyId.CompanyId, id: string, amount: bigint): Add => ({
    _tag: "Add",
    noun,
    member,
    companyId,
    id,
    amount
  })
}

/** Writes that can follow the first one. */
export type Follow = Insert | Touch | Add

/** A Change's effect on one record. */
export type Write = Transition | Follow

/**
 * The first write decides whether the Change applies or has already been applied. The other writes follow from
 * the first. The records that they insert cannot exist yet.
 */
export type Writes = readonly [] | readonly [Insert | Transition, ...ReadonlyArray<Follow>]

const keyOf = (write: Write): string => {
  switch (write._tag) {
    case "Insert":
      return write.noun.name
    case "Transition":
      return write.move.key
    case "Touch":
      return `${write.noun.name} ${write.stamps.join()}`
    case "Add":
      return `${write.noun.name} + ${write.member}`
  }
}

/** Returns the text that identifies a statement: its verbs, record types and fields, without values. */
export const shapeOf = (writes: Writes): string => {
  let shape = ""
  for (const write of writes) shape += `${keyOf(write)};`
  return shape
}
