import { type Context, Effect, Layer, type Option } from "effect"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as Event from "./Event.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { LedgerReads, Published } from "./LedgerReads.ts"
import type { Move, Noun, Row } from "./Noun.ts"
import type { NounReads } from "./NounReads.ts"
import type { Posts } from "./Posts.ts"
import type * as Written from "./Written.ts"
import type { CompanyId } from "../base/CompanyId.ts"
import type { Rated } from "../base/Rated.ts"

// One value declares everything that a feature adds to the service. Code that needs one kind of part collects
// it from the list of all features.

declare const made: unique symbol

/** The Changes of a feature, in the type only; no value contains them. */
export interface Changes<C extends Written.Any> {
  readonly [made]?: C
}

/** Declares Changes: `Feature.changes<VoucherCreated | VoucherClaimed>()`. */
export const changes = <C extends Written.Any>(): Changes<C> => ({})

/** A record as companies see it in a notice, in the state that the event reports. */
export interface About<Kind extends string = string, Type extends string = string, Record = unknown> {
  readonly kind: Kind
  readonly type: Type
  readonly record: Record
}

/**
 * The conversion of a committed event to notices: the possible types, and the function that makes the notices.
 * `aboutOthers` is true if a notice may be about a record other than the event's subject.
 */
export interface Conversion<A extends About = About> {
  readonly as: ReadonlyArray<A["type"]>
  readonly aboutOthers?: true
  readonly convert: (event: Published) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable, NounReads>
}

/**
 * A feature's notices to companies: how each event becomes notices and, if the feature has its own types of
 * notices, those types and the kind of record that they are about.
 */
export interface Notices {
  readonly kind?: string
  readonly types?: ReadonlyArray<string>
  readonly byEvent: { readonly [event: string]: Conversion }
}

/**
 * A record type whose records hold company funds while they have a certain status. Stores use it to recount,
 * verify and list pending amounts.
 */
export interface Holds<Kind extends string = string> {
  readonly noun: Noun
  readonly in: string
  /** Fields whose sum is held, and the field with the transfer's id. */
  readonly members: ReadonlyArray<string>
  readonly transfer: string
  /**
   * The reason for waiting, and the kind of job that ends the wait. A feature that a program adds has the kind
   * `record_open`, because the others are published.
   */
  readonly waits: { readonly kind: Kind; readonly task: string; readonly for: string }
}

type Amounts<A> = {
  readonly [member in keyof A & string]: A[member] extends bigint ? member : never
}[keyof A & string]
type Members<A, Held> = {
  readonly [member in keyof A & string]: A[member] extends Held ? member : never
}[keyof A & string]
type Texts<A> = { readonly [member in keyof A & string]: A[member] extends string ? member : never }[keyof A &
  string]

export const holds = <
  A extends Row & { readonly status: string; readonly createdAtMillis: number },
  const Kind extends string
>(
  noun: Noun<A>,
  how: {
    readonly in: A["status"]
    readonly members: ReadonlyArray<Amounts<A>>
    readonly transfer: Texts<A>
    readonly waits: Holds<Kind>["waits"]
  }
): Holds<Kind> => ({ noun, ...how })

/** Returns the amount that a record holds, for stores without tables. */
export const held = ({ in: status, members, transfer }: Holds, row: Row) => ({
  isHolding: Reflect.get(row, "status") === status,
  transferId: String(Reflect.get(row, transfer)),
  sinceMillis: Number(Reflect.get(row, "createdAtMillis")),
  amount: Msat.sum(...members.map((member) => Msat.make(BigInt(Reflect.get(row, member)))))
})

/**
 * A sum over records of this type, kept in another record. Verification recounts it and reports a mismatch as
 * `fault`.
 */
export interface KeptSum {
  readonly fault: string
  readonly noun: Noun
  /**
   * The statuses whose amounts count (undefined: all), the field with the amount, and the field with the other
   * record's id, or null.
   */
  readonly in?: ReadonlyArray<string> | undefined
  readonly amount: string
  readonly by: string
  /** The field of a counted record with the company that owns the other record. */
  readonly ofCompany: string
  /** The other record's type, and its field with the sum. */
  readonly of: Noun
  readonly as: string
}

export const keptSum = <A extends Row, B extends Row>(
  noun: Noun<A>,
  how: {
    readonly fault: string
    readonly in?: ReadonlyArray<A extends { readonly status: infer S } ? S & string : never>
    readonly amount: Amounts<A>
    readonly by: Members<A, string | null>
    /** Default: the company that owns the counted record. */
    readonly ofCompany?: Members<A, CompanyId>
    readonly of: Noun<B>
    readonly as: Amounts<B>
  }
): KeptSum => ({ ofCompany: "companyId", ...how, noun })

/**
 * Returns each record of a company that keeps such a sum, with the expected and the actual sum, for stores without
 * tables. `records` returns the records that the company may read.
 */
export const recounted = (
  { fault, noun, in: statuses, amount, by, ofCompany, of, as }: KeptSum,
  companyId: CompanyId,
  records: (noun: Noun) => ReadonlyArray<Row>
) => {
  const amountOf = (row: Row, member: string) => Msat.make(BigInt(Reflect.get(row, member)))
  const counted = records(noun).filter(
    (row) =>
      Reflect.get(row, ofCompany) === companyId &&
      (statuses === undefined || statuses.includes(String(Reflect.get(row, "status"))))
  )
  const keeping = records(of).filter((row) => row.companyId === companyId)
  return keeping.map((row) => ({
    fault,
    id: row.id,
    expected: Msat.sum(
      ...counted.filter((one) => Reflect.get(one, by) === row.id).map((one) => amountOf(one, amount))
    ),
    found: amountOf(row, as)
  }))
}

/**
 * A record type whose records have an exchange rate. A deposit whose field `by` refers to such a record is
 * posted with that record's rate and currency.
 */
export interface Rates {
  readonly noun: Noun
  readonly by: string
}

export const rates = <A extends Row & Rated>(noun: Noun<A>, by: string): Rates => ({ noun, by })

/** Returns the rate of a record, for stores without tables. */
export const rateOf = (row: Row): Rated => {
  const textOf = (member: keyof Rated): string | null => {
    const found: unknown = Reflect.get(row, member)
    return typeof found === "string" ? found : null
  }
  const atMillis: unknown = Reflect.get(row, "rateAtMillis")
  return {
    rate: textOf("rate"),
    rateAtMillis: typeof atMillis === "number" ? atMillis : null,
    fiatCurrency: textOf("fiatCurrency"),
    rateSource: textOf("rateSource")
  }
}

/**
 * A record type whose records describe payments. `by` is the payment's field that refers to the record; the
 * others are fields of the record. `returns` refers to the payment that the record returns. `reference` is a unique text
 * in hex that payers quote, `email` the payer's address, and `fiat` the amount as it was requested: searches find them.
 */
export interface Describes {
  readonly noun: Noun
  readonly by: string
  readonly description: string
  readonly orderId?: string
  readonly reference?: string
  readonly email?: string
  readonly fiat?: string
  readonly returns?: { readonly noun: Noun; readonly by: string }
}

export const describes = <A extends Row>(
  noun: Noun<A>,
  how: {
    readonly by: string
    readonly description: Texts<A>
    readonly orderId?: keyof A & string
    readonly reference?: Texts<A>
    readonly email?: keyof A & string
    readonly fiat?: keyof A & string
    readonly returns?: { readonly noun: Noun; readonly by: keyof A & string }
  }
): Describes => ({ noun, ...how })

/** A record type whose records are found by a link that people have. */
export interface Linked {
  readonly noun: Noun
  /** Returns the record in a link, whichever company owns it. */
  readonly in: (
    link: string,
    nouns: NounReads["Service"]
  ) => Effect.Effect<Option.Option<Row>, StoreUnavailable>
}

/** `nameIn` returns the record's unique name in a link, or undefined. */
export const linked = <A extends Row>(
  noun: Noun<A>,
  nameIn: (link: string) => Partial<NoInfer<A>> | undefined
): Linked => ({
  noun,
  in: (link, nouns) => {
    const name = nameIn(link)
    return name === undefined ? Effect.succeedNone : nouns.named(noun, name)
  }
})

/** A measurement of late work, shown in the operator's status: a description, and when the oldest work began to wait. */
export interface Lag {
  readonly about: string
  /** Null if nothing waits. */
  readonly sinceMillis: Effect.Effect<number | null, StoreUnavailable, LedgerReads | NounReads>
}

/** Everything that a feature adds. `make` fills in omitted parts. */
export interface Feature {
  readonly name: string
  readonly nouns: ReadonlyArray<Noun>
  readonly lives: ReadonlyArray<{ readonly [name: string]: Move }>
  readonly changes: Changes<Written.Any>
  /**
   * Every type of event that its Changes publish, with the record type that `subject` identifies; null if the
   * subject is not a record.
   */
  readonly events: { readonly [type: string]: string | null }
  readonly notices?: Notices | undefined
  readonly holds?: ReadonlyArray<Holds>
  readonly keptSums?: ReadonlyArray<KeptSum>
  readonly posts?: ReadonlyArray<Posts>
  readonly rates?: ReadonlyArray<Rates>
  readonly describes?: ReadonlyArray<Describes>
  readonly linked?: ReadonlyArray<Linked>
  /** The feature's read port, which a storage adapter implements. */
  readonly reads?: AnyReads | undefined
  /** Rows for the table of limits in the reference: a description, and the limit. */
  readonly limits?: ReadonlyArray<readonly [what: string, limit: string]>
  /** The roles that its workers take with `Duties.run`, for the operator's status. */
  readonly roles?: ReadonlyArray<string>
  /** The delay of the feature's work. */
  readonly lag?: Lag
  /** The feature's services. They may require services of features earlier in the list. */
  readonly layer: AnyLayer
  readonly workers: AnyLayer
  /** The feature's implementations of ports that the money path declares, such as `receiving/InvoiceJobs`. */
  readonly extensions: AnyLayer
}

export type AnyLayer = Layer.Layer<never, unknown, unknown>
export type AnyReads = Context.Key<unknown, object>

/** Every Change of these features. */
export type ChangeOf<F> = F extends { readonly changes: Changes<infer C> } ? C : never

/** Event types that a Change publishes, except those of the money path in Event.ts. */
type EventOf<C> = C extends { readonly event?: infer E }
  ? E extends { readonly type: infer T }
    ? Exclude<T, Event.Type>
    : never
  : never

/**
 * The parts of a feature that keep their own types in the list of all features. The other parts are folded at
 * run time and left out of declaration files.
 */
export interface Declared<
  C extends Written.Any,
  E extends Feature["events"],
  N extends Notices | undefined,
  L extends AnyLayer,
  W extends AnyLayer,
  X extends AnyLayer,
  R extends AnyReads | undefined,
  P extends ReadonlyArray<Posts>,
  H extends ReadonlyArray<Holds>
> extends Feature {
  readonly changes: Changes<C>
  readonly events: E
  readonly notices: N
  readonly layer: L
  readonly workers: W
  readonly extensions: X
  readonly reads: R
  readonly posts: P
  readonly holds: H
}

const nothing = {
  nouns: [],
  lives: [],
  changes: {},
  events: {},
  notices: undefined,
  posts: [],
  holds: [],
  reads: undefined,
  layer: Layer.empty,
  workers: Layer.empty,
  extensions: Layer.empty
}

/** Declares a feature. Does not compile if one of its Changes publishes an undeclared event. */
export const make = <
  C extends Written.Any = never,
  const E extends { readonly [type in EventOf<C> & string]: string | null } = {
    readonly [type in EventOf<C> & string]: string | null
  },
  const N extends Notices | undefined = undefined,
  L extends AnyLayer = Layer.Layer<never>,
  W extends AnyLayer = Layer.Layer<never>,
  X extends AnyLayer = Layer.Layer<never>,
  R extends AnyReads | undefined = undefined,
  const P extends ReadonlyArray<Posts> = readonly [],
  const H extends ReadonlyArray<Holds> = readonly []
>(
  feature: Pick<Feature, "name"> &
    Partial<Declared<C, E, N, L, W, X, R, P, H>> &
    ([EventOf<C>] extends [never] ? unknown : { readonly events: E })
): Declared<C, E, N, L, W, X, R, P, H> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- omitted parts have the types of `nothing`
  ({ ...nothing, ...feature }) as Declared<C, E, N, L, W, X, R, P, H>

/** The records that these features send notices about. */
export type AboutOf<F> = F extends {
  readonly notices: { readonly byEvent: { readonly [event: string]: Conversion<infer A> } }
}
  ? A
  : never
