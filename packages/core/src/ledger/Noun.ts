import { Schema, type SchemaAST } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"

// A kind of record is declared once: its members, which of them its life changes, its unique names and its moves. A store derives from that what it needs:
// tables, statements, comparisons. So a new kind of record is no new code in a store.

/** What every record has: its id, and the company that it belongs to. */
export interface Row {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
}

/** What a member holds, as a store needs to know it. `choice` is one of a few texts. */
export type Kind = "uuid" | "text" | "choice" | "msat" | "millis" | "integer" | "json"

/** An id that is a UUID. */
export const Id = Schema.String.annotate({ kind: "uuid" })

/** The members of a record: what each one holds, and which of them change. */
export interface Members<A extends object = object> {
  /** Also the name of its table. */
  readonly name: string
  readonly schema: Schema.Codec<A, unknown>
  readonly members: ReadonlyArray<readonly [member: string, kind: Kind]>
  /** The members that its life changes. All others are as the record was created. */
  readonly moving: ReadonlySet<string>
  /** The members whose values the audit log has, before and after each Change; undefined where it has none. What authorizes has them. */
  readonly recorded?: ReadonlySet<string>
}

type StructOf<A> = Schema.Codec<A, unknown> & { readonly fields: { readonly [member: string]: { readonly ast: SchemaAST.AST } } }

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
  // Times are named by their unit everywhere.
  return ast._tag === "Number" && member.endsWith("Millis") ? "millis" : kindOfTag[ast._tag]
}

/** A record that no write of a Change names: its store has code of its own for it. */
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
    if (kind === undefined) throw new Error(`${name}.${member} is of a type that no store can keep`)
    return [member, kind]
  }),
  moving: new Set(moving)
})

/** A kind of record that Changes write. */
export interface Noun<A extends Row = Row, Refused = unknown, Taken = unknown, Other = unknown> extends Members<A> {
  /** The names that only one record may have. A name with a null in it is none. */
  readonly unique: ReadonlyArray<ReadonlyArray<string>>
  /** The member with texts by key, fixed as the record is, by each of which a company's records are found; a store keeps an index of them. */
  readonly labels?: string
  /** The refusal of a record whose name another one has: a `Conflict` where it is left out. */
  taken?(record: A): Taken
  /** The refusal where another record has its id: a `Conflict` where it is left out. */
  other?(record: A): Other
  /** The refusal of a move that does not begin in the status that the record is in. */
  refused?(id: string, status: string): Refused
}

export const make = <A extends Row, Refused = never, Taken = never, Other = never>(
  name: string,
  schema: StructOf<A>,
  options: {
    readonly moving: ReadonlyArray<keyof A & string>
    readonly recorded?: ReadonlyArray<keyof A & string>
    readonly unique?: ReadonlyArray<ReadonlyArray<keyof A & string>>
    readonly labels?: keyof A & string
    taken?(record: NoInfer<A>): Taken
    other?(record: NoInfer<A>): Other
    refused?(id: string, status: string): Refused
  }
): Noun<A, Refused, Taken, Other> => {
  const { moving, recorded, unique = [], ...refusals } = options
  return { ...members(name, schema, moving, recorded), unique, ...refusals }
}

/** A record exists from here on. The same one again is applied; another one under its id, or with one of its names, is refused. */
export interface Insert<A extends Row = Row, Taken = unknown, Other = unknown> {
  readonly _tag: "Insert"
  readonly noun: Noun<A, unknown, Taken, Other>
  readonly record: A
}

/** The insert of a noun's records: `InsertOf<typeof noun>`. */
export type InsertOf<N> = N extends Noun<infer A, unknown, infer Taken, infer Other> ? Insert<A, Taken, Other> : never

export const insert = <A extends Row, Taken, Other>(noun: Noun<A, unknown, Taken, Other>, record: A): Insert<A, Taken, Other> => ({
  _tag: "Insert",
  noun,
  record
})

/** One step of a record's life, declared once: all of it but the values. */
export interface Move<A extends Row = Row, Sets extends string = string, Expects extends string = string, Refused = unknown> {
  /** `vouchers claimed`: no other move has it. */
  readonly key: string
  readonly noun: Noun<A>
  /** It applies in these statuses; in any where there is none. */
  readonly from: ReadonlyArray<string>
  /** It applies while these members are null. */
  readonly empty: ReadonlyArray<string>
  /** It applies while these members are as the Change found them. */
  readonly expects: ReadonlyArray<Expects>
  /** The status that it ends in; null where it changes none, or gives it with `sets`. */
  readonly to: string | null
  /** Members that get a value of the Change. */
  readonly sets: ReadonlyArray<Sets>
  /** Members that become null. */
  readonly clears: ReadonlyArray<string>
  /** Members that become the time of the Change. */
  readonly stamps: ReadonlyArray<string>
  /**
   * It was applied before where the record is in one of these statuses (in any where there is none), `empty` members are null, and `same` members are as
   * this move would make them. `otherwise`: wherever it does not apply.
   */
  readonly again: { readonly in: ReadonlyArray<string>; readonly same: ReadonlyArray<string> } | "otherwise"
  /** Whether it counts as applied where the record was deleted meanwhile. */
  readonly isDoneWhenGone: boolean
  refused?(id: string, status: string): Refused
}

type Status<A> = A extends { readonly status: infer S extends string } ? S : never

/** How a move is known to have been applied before: see `Move.again`. */
type Again<A> = { readonly in?: ReadonlyArray<Status<A>>; readonly same?: ReadonlyArray<keyof A & string> } | "otherwise"

type In<G> = G extends { readonly in: ReadonlyArray<infer S> } ? S : never

/** Where nothing but statuses decides whether it applies, and it applies or was applied in each of them, nothing can refuse it. */
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

/** Declares a step of a record's life. `name` is the noun's own: what a statement is known by. */
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
  const { from = [], empty = [], expects = [], to = null, sets = [], clears = [], stamps = [], again, isDoneWhenGone = false } = options
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
  if ((declared.get(key) ?? content) !== content) throw new Error(`${key} is declared twice, and differently`)
  declared.set(key, content)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- where the type says never, no record is left that could refuse it
  const refused = noun.refused as ((id: string, status: string) => never) | undefined
  return { key, noun, ...what, ...(refused && { refused }) }
}

/** A record takes the next step of its life. */
export interface Transition<A extends Row = Row, Refused = unknown, Found extends Row = Row> {
  readonly _tag: "Transition"
  readonly move: Move<A, string, string, Refused>
  /** The record as it was found, as far as it is known: what its move expects is in it. */
  readonly found: Found
  /** The values of what its move sets. */
  readonly set: object
}

/** The transition by a move: `TransitionOf<typeof life.claimed>`. */
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

/** What a transition makes of a member; undefined where it leaves it as it is. */
const become = ({ move, set }: Transition, member: string, atMillis: number): unknown => {
  if (move.sets.includes(member)) return Reflect.get(set, member)
  if (move.stamps.includes(member)) return atMillis
  if (move.clears.includes(member)) return null
  return member === "status" && move.to !== null ? move.to : undefined
}

/** The record after this transition. */
export const after = <A extends Row>(row: A, transition: Transition<A>, atMillis: number): A => {
  const changed: Record<string, unknown> = {}
  for (const [member] of transition.move.noun.members) {
    const value = become(transition, member, atMillis)
    if (value !== undefined) changed[member] = value
  }
  return { ...row, ...changed }
}

/** Times of another record become that of the Change, if the Change applies. Nothing is judged, and `id: null` is no record. */
export interface Touch {
  readonly _tag: "Touch"
  readonly noun: Noun
  readonly stamps: ReadonlyArray<string>
  readonly companyId: CompanyId.CompanyId
  readonly id: string | null
}

export const touch =
  <A extends Row>(noun: Noun<A>, stamps: ReadonlyArray<keyof A & string>) =>
  (companyId: CompanyId.CompanyId, id: string | null): Touch => ({ _tag: "Touch", noun, stamps, companyId, id })

/** An amount of another record becomes more or less, if the Change applies. Nothing is judged: what it may not become is a constraint of the table. */
export interface Add {
  readonly _tag: "Add"
  readonly noun: Noun
  readonly member: string
  readonly companyId: CompanyId.CompanyId
  readonly id: string
  /** Below zero it becomes less. */
  readonly amount: bigint
}

type AmountsOf<A> = { readonly [member in keyof A & string]: A[member] extends bigint ? member : never }[keyof A & string]

export const add =
  <A extends Row>(noun: Noun<A>, member: AmountsOf<A>) =>
  (companyId: CompanyId.CompanyId, id: string, amount: bigint): Add => ({ _tag: "Add", noun, member, companyId, id, amount })

/** What follows from the first write. */
export type Follow = Insert | Touch | Add

/** What a Change does to one record. */
export type Write = Transition | Follow

/** The first write is judged: whether it was applied before, whether it applies. The others follow from it, of records that cannot be there yet. */
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

/** The identity of a statement: verbs, nouns and members, never a value. */
export const shapeOf = (writes: Writes): string => {
  let shape = ""
  for (const write of writes) shape += `${keyOf(write)};`
  return shape
}
