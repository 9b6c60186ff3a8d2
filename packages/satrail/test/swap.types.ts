// Checked by the compiler: a program for `@satrail/client` that names its companies compiles for the embedded
// service.
import type { CallOptions, Client, CompanyRef, Event, Metadata } from "@satrail/client"
import type { AnyEvent, Pay } from "../src/index.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Does not compile unless `T` is `true`. */
type Holds<T extends true> = T

type Nouns = Omit<Client, "on" | "close">
type Parameters = ReadonlyArray<unknown>

/** The arguments of a call that names its company in the record, which the client needs only with several keys. */
type Named<A, N> = N extends "companies"
  ? A
  : A extends readonly [infer Ask]
    ? Ask extends CallOptions
      ? readonly [Omit<Ask, "company"> & { readonly company: CompanyRef }]
      : A
    : A

type Function<A, R> = A extends Parameters ? (...given: A) => R : never

/** A client's method as a program calls it: with the company in the record, or as the first argument. */
type Calls<F, N> = F extends { (...given: infer A): infer R; (...given: infer B): infer S }
  ?
      | Function<B, S>
      | Function<Named<Required<B>, N>, S>
      | (Required<A> extends readonly [unknown] ? Function<Named<Required<A>, N>, R> : never)
  : never

type Of<N, V> = N extends keyof Pay ? (V extends keyof Pay[N] ? Pay[N][V] : undefined) : undefined
type Fits<F, Call> = Call extends unknown ? (F extends Call ? true : never) : never

type Differing = {
  readonly [N in keyof Nouns & string]: {
    readonly [V in keyof Nouns[N] & string]: [Fits<Of<N, V>, Calls<Nouns[N][V], N>>] extends [never]
      ? `${N}.${V}`
      : never
  }[keyof Nouns[N] & string]
}[keyof Nouns & string]

// An event has the same data.

type DataIn<E> = E extends { readonly type: infer T extends string; readonly data: infer D }
  ? { readonly [K in T]: D }
  : never
type All<U> = (U extends unknown ? (one: U) => void : never) extends (one: infer I) => void ? I : never
type OfPay = All<DataIn<AnyEvent<Metadata>>>
type OfClient = All<DataIn<Event>>
export type EventsAreTheSame = Holds<OfPay extends OfClient ? true : false>

// A method accepts each field that the client's method accepts. The comparison above allows a missing one, because a
// value with more fields fits a type with fewer.

type FieldsIn<T> = T extends CompanyRef ? never : T extends object ? keyof T : never
type FieldsOf<F> = F extends (...given: infer A) => unknown ? FieldsIn<Required<A>[number]> : never
type Unaccepted = {
  readonly [N in keyof Nouns & string]: {
    readonly [V in keyof Nouns[N] & string]: [
      Exclude<FieldsOf<Nouns[N][V]>, FieldsOf<Of<N, V>> | "company">
    ] extends [never]
      ? never
      : `${N}.${V}`
  }[keyof Nouns[N] & string]
}[keyof Nouns & string]

/** The exceptions, each with its reason. */
interface Exceptions {
  readonly "account.get": "describes the API key of the call; a host has none, and reads `companies.get` and `fees.terms`"
  readonly "events.get": "`events()` and `on` deliver the same events, from any position"
  readonly "events.list": "`events()` and `on` deliver the same events, from any position"
  readonly "withdrawals.approve": "the key of the call decides; a host names the key in `approvals.approve`"
  readonly "withdrawals.reject": "the key of the call decides; a host names the key in `approvals.reject`"
}
export type OnlyExceptionsDiffer = Holds<Equal<Exclude<Differing, keyof Exceptions>, never>>
export type EveryExceptionIsNeeded = Holds<Equal<Exclude<keyof Exceptions, Differing>, never>>
export type OnlyExceptionsLackAField = Holds<Equal<Exclude<Unaccepted, keyof Exceptions>, never>>
