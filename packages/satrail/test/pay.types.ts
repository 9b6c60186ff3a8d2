// Checked by the compiler: `npm run typecheck` fails if an assertion is false.
import type * as Msat from "@satrail/bitcoin/Msat"
import type { SecretHash } from "@satrail/core/base/SecretHash"
import type { Decimal } from "@satrail/core/base/Decimal"
import type { Outcome } from "@satrail/core/ledger/Answer"
import type { Page } from "@satrail/core/ledger/Page"
import type { Client } from "@satrail/client"
import type { Effect, Option, Redacted, Schema, Stream } from "effect"
import type { MetadataNoun } from "@satrail/client/Schemas"
import type { inMsat as namesInMsat } from "../src/Ask.ts"
import type * as Errors from "../src/Errors.ts"
import type * as Index from "../src/index.ts"
import type { Noun, Services } from "../src/Nouns.ts"
import type { counts, leftOut } from "../src/Reply.ts"
import type { parameters as outside } from "../src/Simulation.ts"
import type { defaults, hidden, inMsat, ofCompany, parameters, renamed } from "../src/Verbs.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Does not compile unless `T` is `true`. */
type Holds<T extends true> = T

type EffectOf<F> = F extends (...asked: never) => infer R ? R : F
type Of<N extends Noun, K> = K extends keyof Services[N] ? EffectOf<Services[N][K]> : never

// Every method of every service exists, under its original or its new name.

type RenamedTo<N, K> = N extends keyof typeof renamed
  ? {
      readonly [V in keyof (typeof renamed)[N]]: (typeof renamed)[N][V] extends K ? V : never
    }[keyof (typeof renamed)[N]]
  : never
type IsHidden<N, K> = N extends keyof typeof hidden
  ? K extends (typeof hidden)[N][number]
    ? true
    : false
  : false
type Here<N, K> = [RenamedTo<N, K>] extends [never] ? K : RenamedTo<N, K>
type Missing = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N]]: IsHidden<N, K> extends true
      ? never
      : Here<N, K> extends keyof Index.Pay[N]
        ? never
        : [N, K]
  }[keyof Services[N]]
}[Noun]
export type NoneIsMissing = Holds<Equal<Missing, never>>

type NotAsync = {
  readonly [N in Noun]: {
    readonly [K in keyof Index.Pay[N]]: Index.Pay[N][K] extends (...asked: never) => PromiseLike<unknown>
      ? never
      : [N, K]
  }[keyof Index.Pay[N]]
}[Noun]
export type AllAreAsync = Holds<Equal<NotAsync, never>>

// The hidden methods are exactly those that need services or belong to the workers.

type Needing = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N]]: Of<N, K> extends Effect.Effect<unknown, unknown, infer R>
      ? [R] extends [never]
        ? never
        : [N, K]
      : never
  }[keyof Services[N]]
}[Noun]
export type OnlyHiddenOnesNeed = Holds<Equal<Exclude<Needing, ["withdrawals", "handOver"]>, never>>

// The runtime tables match the types and are complete.

type Depth = [0, 1, 2, 3, 4, 5, 6]
type Deeper<D extends number> = Depth extends readonly [unknown, ...infer Rest]
  ? D extends keyof Rest
    ? Rest[D] & number
    : 6
  : never
type Names<T, Wanted, K extends string, D extends number> = D extends 6
  ? never
  : T extends Wanted
    ? K
    : T extends string | number | bigint | boolean | null | undefined | Decimal | Redacted.Redacted<unknown>
      ? never
      : T extends Option.Option<infer A>
        ? Names<A, Wanted, K, D>
        : T extends Stream.Stream<infer A, unknown, unknown>
          ? Names<A, Wanted, K, D>
          : T extends ReadonlyArray<infer A>
            ? Names<A, Wanted, K, D>
            : T extends (...asked: never) => unknown
              ? never
              : T extends object
                ? {
                    [P in keyof T & string]: P extends "instructed" | "destination"
                      ? never
                      : Names<T[P], Wanted, P, Deeper<D>>
                  }[keyof T & string]
                : never

type AskedOf<F> = F extends (...asked: infer A) => unknown ? A[number] : never
type ResultsOf<R> =
  R extends Effect.Effect<infer A, unknown, unknown> ? ([A] extends [Outcome<infer V>] ? V : A) : R

type NamesInAsks<Wanted> = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N] & string]: Names<
      AskedOf<Services[N][K]>,
      Wanted,
      "",
      0
    > extends infer P extends string
      ? `${N}.${K}: ${P}`
      : never
  }[keyof Services[N] & string]
}[Noun]

type AmountsInMsat =
  NamesInAsks<Msat.Msat> extends infer P ? (P extends `${infer Method}: amount` ? Method : never) : never
export type EveryMsatAmountIsListed = Holds<Equal<AmountsInMsat, keyof typeof inMsat>>

type OthersInMsat =
  NamesInAsks<Msat.Msat> extends infer P
    ? P extends `${string}: ${infer Name}`
      ? Exclude<Name, "amount" | "msat">
      : never
    : never
export type EveryMsatNameIsListed = Holds<Equal<Exclude<OthersInMsat, (typeof namesInMsat)[number]>, never>>

type Plain<T> = T extends Msat.Msat ? never : T
type CountsIn<T> = Names<T, Plain<bigint> & { readonly "~effect/Brand"?: never }, "", 0>
type CountsInReplies = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N] & string]: CountsIn<ResultsOf<Of<N, K>>>
  }[keyof Services[N] & string]
}[Noun]
export type EveryCountIsListed = Holds<Equal<Exclude<CountsInReplies, (typeof counts)[number]>, never>>

type HashesInReplies = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N] & string]: Names<ResultsOf<Of<N, K>>, SecretHash, "", 0>
  }[keyof Services[N] & string]
}[Noun]
export type EveryHashIsLeftOut = Holds<Equal<HashesInReplies, (typeof leftOut)[number] & HashesInReplies>>

// The table of parameters has the types of the methods' arguments, except that a field that may be omitted may also
// be null.

type At<A, I> = I extends keyof A ? Exclude<A[I], undefined> : never
/** An argument, unless it has only a signal, which every method takes. */
type Described<A> = [A] extends [object] ? ([Exclude<keyof A, "signal">] extends [never] ? never : A) : A
type Parsed<P> = P extends ReadonlyArray<Schema.Constraint> ? Required<Schema.Tuple<P>["Type"]> : never
type GivenTo<F> = F extends (...given: infer A) => unknown ? A : never
/** The arguments of a list with the company first. */
type Longer<A extends ReadonlyArray<unknown>> = A extends unknown
  ? 2 extends A["length"]
    ? A
    : never
  : never
type Positional<A extends ReadonlyArray<unknown>> = Required<[Longer<A>] extends [never] ? A : Longer<A>>
type Outside<B> = "signal" | ("company" extends keyof B ? never : "company")
type IsRequired<T, K> = K extends keyof T ? (object extends Pick<T, K> ? false : true) : "absent"
type HasFields<T> = [T] extends [object]
  ? [T] extends [Date | ReadonlyArray<unknown>]
    ? false
    : true
  : false
type Unlike<A, B> = string extends keyof B
  ? A extends B
    ? never
    : "record"
  : HasFields<B> extends true
    ? {
        readonly [K in Exclude<keyof A | keyof B, Outside<B>>]: Equal<
          IsRequired<A, K>,
          IsRequired<B, K>
        > extends true
          ? [Unlike<NonNullable<A[K & keyof A]>, NonNullable<B[K & keyof B]>>] extends [never]
            ? never
            : K
          : K
      }[Exclude<keyof A | keyof B, Outside<B>>]
    : [A, B] extends [B, A]
      ? never
      : "type"
type UnlikeAt<A, B> = {
  readonly [I in "0" | "1" | "2" | "3"]: Unlike<
    Described<NonNullable<At<A, I>>>,
    NonNullable<At<B, I>>
  > extends infer D
    ? [D] extends [never]
      ? never
      : [I, D]
    : never
}["0" | "1" | "2" | "3"]
type Misstated<P, T> = {
  readonly [N in keyof P & string]: {
    readonly [V in keyof P[N] & string]: N extends keyof T
      ? V extends keyof T[N]
        ? UnlikeAt<Positional<GivenTo<P[N][V]>>, Parsed<T[N][V]>> extends infer D
          ? [D] extends [never]
            ? never
            : [N, V, D]
          : never
        : [N, V]
      : [N]
  }[keyof P[N] & string]
}[keyof P & string]
type Elsewhere = ["withdrawals", "settled"] | ["webhooks", "verify"] | ["outside", "pay"]
export type EveryParameterIsDescribed = Holds<
  Equal<Exclude<Misstated<Pick<Index.Pay, Noun>, typeof parameters>, Elsewhere>, never>
>
export type EveryParameterOfTheOutsideIsDescribed = Holds<
  Equal<
    Exclude<Misstated<Pick<Index.SimulatedPay, "outside">, { readonly outside: typeof outside }>, Elsewhere>,
    never
  >
>

// The lists are exactly the methods whose default has a `limit`.

type LimitOf<D> = D extends readonly [...ReadonlyArray<unknown>, { readonly limit: number }] ? true : false
type Fallback<N, V> = N extends keyof typeof defaults
  ? V extends keyof (typeof defaults)[N]
    ? (typeof defaults)[N][V]
    : []
  : []
type Misjudged = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N]]: Equal<
      ResultsOf<Of<N, K>> extends Page<unknown> ? (IsHidden<N, K> extends true ? false : true) : false,
      LimitOf<Fallback<N, Here<N, K>>>
    > extends true
      ? never
      : [N, K]
  }[keyof Services[N]]
}[Noun]
export type EveryListHasADefault = Holds<Equal<Misjudged, never>>

// A default has only fields that the core reads.

type KeysOf<T> = T extends unknown ? keyof T : never
type Unread<A, D> = {
  readonly [I in "0" | "1" | "2"]: [At<D, I>] extends [never]
    ? never
    : Exclude<keyof At<D, I>, KeysOf<At<Required<A>, I>>>
}["0" | "1" | "2"]
type UnreadDefaults = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N]]: Services[N][K] extends (...asked: infer A) => unknown
      ? Unread<A, Fallback<N, Here<N, K>>> extends infer D
        ? [D] extends [never]
          ? never
          : [N, K, D]
        : never
      : never
  }[keyof Services[N]]
}[Noun]
export type EveryDefaultIsRead = Holds<Equal<UnreadDefaults, never>>

// A list with pages takes the same options here and in `@satrail/client`.

type Both = Extract<keyof Client, Noun>
type Verb<N extends Both> = Extract<keyof Client[N] & keyof Index.Pay[N], "list" | "deliveries">
type Lists<P extends Client | Index.Pay> = {
  readonly [N in Both]: {
    readonly [V in Verb<N>]: N extends keyof P ? (V extends keyof P[N] ? P[N][V] : never) : never
  }
}
type LastOf<G> = G extends
  | readonly [infer Q]
  | readonly [unknown, infer Q]
  | readonly [unknown, unknown, infer Q]
  ? Q
  : never
type OptionsIn<F> = F extends (...given: infer G) => unknown ? LastOf<Required<G>> : never
type Same<A, B> = {
  readonly [K in keyof A | keyof B]: Equal<A[K & keyof A], B[K & keyof B]> extends true ? never : K
}[keyof A | keyof B]
type Different = {
  readonly [N in Both]: {
    readonly [V in Verb<N>]: OptionsIn<Lists<Client>[N][V]> extends {
      readonly limit?: unknown
      readonly cursor?: unknown
    }
      ? Same<OptionsIn<Lists<Client>[N][V]>, OptionsIn<Lists<Index.Pay>[N][V]>> extends infer D
        ? [D] extends [never]
          ? never
          : [N, V, D]
        : never
      : never
  }[Verb<N>]
}[Both]
export type ListsTakeTheSameOptions = Holds<Equal<Different, never>>

type WithRecord = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N] & string]: Services[N][K] extends (
      first: infer A,
      ...others: never
    ) => unknown
      ? IsHidden<N, K> extends true
        ? never
        : A extends { readonly company: { readonly plan: unknown } | { readonly id: string } }
          ? `${N}.${K}`
          : A extends { readonly plan: unknown; readonly name?: never }
            ? `${N}.${K}`
            : never
      : never
  }[keyof Services[N] & string]
}[Noun]
export type EveryRecordIsListed = Holds<Equal<WithRecord, keyof typeof ofCompany>>

type Writing = {
  readonly [N in Noun]: {
    readonly [K in keyof Services[N]]: Services[N][K] extends (ask: infer A, ...others: never) => unknown
      ? A extends { readonly metadata: unknown }
        ? N
        : never
      : never
  }[keyof Services[N]]
}[Noun]
export type EveryNounWithMetadataCanHaveASchema = Holds<Equal<Writing, MetadataNoun>>

// Every error that a method may throw is exported.

type ErrorOf<R> =
  R extends Effect.Effect<unknown, infer E, unknown>
    ? E
    : R extends Stream.Stream<unknown, infer E, unknown>
      ? E
      : never
type Thrown = {
  readonly [N in Noun]: { readonly [K in keyof Services[N]]: ErrorOf<Of<N, K>> }[keyof Services[N]]
}[Noun]
type Tag = Thrown extends infer E ? (E extends { readonly _tag: infer T } ? T : never) : never
export type EveryErrorIsExported = Holds<Equal<Exclude<Tag, keyof typeof Index>, never>>
export type EveryErrorHasAClass = Holds<Equal<Exclude<Tag, keyof typeof Errors.classes>, never>>
