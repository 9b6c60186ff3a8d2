import { type Effect, Layer } from "effect"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as Event from "./Event.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Published } from "./LedgerReads.ts"
import type { Move, Noun, Row } from "./Noun.ts"
import type { NounReads } from "./NounReads.ts"
import type { Posts } from "./Posts.ts"
import type * as Waiting from "./Waiting.ts"
import type * as Written from "./Written.ts"

// A feature is a place: what it adds to the service is one value, and whoever needs a part of it folds over the list of all features.

declare const made: unique symbol

/** The Changes of a feature: in its type only, no value has them. */
export interface Changes<C extends Written.Any> {
  readonly [made]?: C
}

/** `Feature.changes<VoucherCreated | VoucherClaimed>()` */
export const changes = <C extends Written.Any>(): Changes<C> => ({})

/** A record as companies are told of it: in the state that the event stands for. */
export interface About<Kind extends string = string, Type extends string = string, Record = unknown> {
  readonly kind: Kind
  readonly type: Type
  readonly record: Record
}

/** How one committed event is told: the types that it can be told as, and the records. `aboutOthers`: one of them is not the event's subject. */
export interface Telling<A extends About = About> {
  readonly as: ReadonlyArray<A["type"]>
  readonly aboutOthers?: true
  readonly tell: (event: Published) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable, NounReads>
}

/** What companies are told of: a kind of record with the types of its notices, if the feature has a kind of its own, and the telling of each event. */
export interface Notices {
  readonly kind?: string
  readonly types?: ReadonlyArray<string>
  readonly told: { readonly [event: string]: Telling }
}

/** A noun whose records hold money of their company while they are in a status: with that, stores recount, verify and list what waits. */
export interface Holds {
  readonly noun: Noun
  readonly in: string
  /** The amounts that it holds, together, in the transfer that this member names. */
  readonly members: ReadonlyArray<string>
  readonly transfer: string
  /** What it waits for, and the job of its end. */
  readonly waits: { readonly kind: Waiting.Kind; readonly task: string; readonly for: string }
}

type Amounts<A> = { readonly [member in keyof A & string]: A[member] extends bigint ? member : never }[keyof A & string]
type Texts<A> = { readonly [member in keyof A & string]: A[member] extends string ? member : never }[keyof A & string]

export const holds = <A extends Row & { readonly status: string; readonly createdAtMillis: number }>(
  noun: Noun<A>,
  how: {
    readonly in: A["status"]
    readonly members: ReadonlyArray<Amounts<A>>
    readonly transfer: Texts<A>
    readonly waits: Holds["waits"]
  }
): Holds => ({ noun, ...how })

/** What one record of these holds: a store that has records, and not tables, asks this. */
export const held = ({ in: status, members, transfer }: Holds, row: Row) => ({
  isHolding: Reflect.get(row, "status") === status,
  transferId: String(Reflect.get(row, transfer)),
  sinceMillis: Number(Reflect.get(row, "createdAtMillis")),
  amount: Msat.sum(...members.map((member) => Msat.make(BigInt(Reflect.get(row, member)))))
})

/** A sum that another record keeps of records of this noun. Verification recounts it: where the two differ, that is a `fault`. */
export interface KeptSum {
  readonly fault: string
  readonly noun: Noun
  /** The statuses whose amounts count, the member that is the amount, and the member that names the other record. */
  readonly in: ReadonlyArray<string>
  readonly amount: string
  readonly by: string
  /** The noun of the other record, and its member that keeps the sum. */
  readonly of: Noun
  readonly as: string
}

export const keptSum = <A extends Row & { readonly status: string }, B extends Row>(
  noun: Noun<A>,
  how: {
    readonly fault: string
    readonly in: ReadonlyArray<A["status"]>
    readonly amount: Amounts<A>
    readonly by: Texts<A>
    readonly of: Noun<B>
    readonly as: Amounts<B>
  }
): KeptSum => ({ noun, ...how })

/** Each record that keeps such a sum, with the sum as it should be and as it is: for a store that has records, and not tables. */
export const recounted = ({ fault, noun, in: statuses, amount, by, of, as }: KeptSum, records: (noun: Noun) => ReadonlyArray<Row>) => {
  const amountOf = (row: Row, member: string) => Msat.make(BigInt(Reflect.get(row, member)))
  const counted = records(noun).filter((row) => statuses.includes(String(Reflect.get(row, "status"))))
  return records(of).map((row) => ({
    fault,
    id: row.id,
    expected: Msat.sum(...counted.filter((one) => Reflect.get(one, by) === row.id).map((one) => amountOf(one, amount))),
    found: amountOf(row, as)
  }))
}

/** What a feature adds. What it has nothing of, it leaves out where it is made. */
export interface Feature {
  readonly name: string
  readonly nouns: ReadonlyArray<Noun>
  readonly lives: ReadonlyArray<{ readonly [name: string]: Move }>
  readonly changes: Changes<Written.Any>
  /** Every type of event that its Changes publish, and the noun whose id its `subject` is; null if the subject is not a record. */
  readonly events: { readonly [type: string]: string | null }
  readonly notices?: Notices | undefined
  readonly holds?: ReadonlyArray<Holds>
  readonly keptSums?: ReadonlyArray<KeptSum>
  readonly posts?: ReadonlyArray<Posts>
  /** What there is a limit of, in words, and the limit: rows of the reference. */
  readonly limits?: ReadonlyArray<readonly [what: string, limit: string]>
  /** Its services. What a feature before it in the list has, it may ask for. */
  readonly layer: AnyLayer
  readonly workers: AnyLayer
  /** What it adds to the money path: ports that are declared there, such as `receiving/InvoiceJobs`. */
  readonly extensions: AnyLayer
}

export type AnyLayer = Layer.Layer<never, unknown, unknown>

/** Every kind of Change of these features. */
export type ChangeOf<F> = F extends { readonly changes: Changes<infer C> } ? C : never

/** The types of event that a Change publishes and that nobody has declared: those of the money path are in Event.ts. */
type EventOf<C> = C extends { readonly event?: infer E } ? (E extends { readonly type: infer T } ? Exclude<T, Event.Type> : never) : never

/** What the list of all features knows the types of. The rest is for folds at run time, and stays out of declaration files. */
export interface Declared<
  C extends Written.Any,
  E extends Feature["events"],
  N extends Notices | undefined,
  L extends AnyLayer,
  W extends AnyLayer,
  X extends AnyLayer
> extends Feature {
  readonly changes: Changes<C>
  readonly events: E
  readonly notices: N
  readonly layer: L
  readonly workers: W
  readonly extensions: X
}

const nothing = {
  nouns: [],
  lives: [],
  changes: {},
  events: {},
  notices: undefined,
  layer: Layer.empty,
  workers: Layer.empty,
  extensions: Layer.empty
}

/** A feature, as it is declared. An event that one of its Changes publishes, and that is not declared, does not compile. */
export const make = <
  C extends Written.Any = never,
  const E extends { readonly [type in EventOf<C> & string]: string | null } = { readonly [type in EventOf<C> & string]: string | null },
  const N extends Notices | undefined = undefined,
  L extends AnyLayer = Layer.Layer<never>,
  W extends AnyLayer = Layer.Layer<never>,
  X extends AnyLayer = Layer.Layer<never>
>(
  feature: Pick<Feature, "name"> & Partial<Declared<C, E, N, L, W, X>> & ([EventOf<C>] extends [never] ? unknown : { readonly events: E })
): Declared<C, E, N, L, W, X> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- what it leaves out has the type of nothing
  ({ ...nothing, ...feature }) as Declared<C, E, N, L, W, X>

/** What all of these tell of. */
export type AboutOf<F> = F extends { readonly notices: { readonly told: { readonly [event: string]: Telling<infer A> } } } ? A : never
