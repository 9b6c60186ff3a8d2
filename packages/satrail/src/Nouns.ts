import * as Root from "@satrail/service"
import type { Outcome } from "@satrail/core/ledger/Answer"
import type * as Satrail from "@satrail/service/core/Satrail"
import * as More from "@satrail/service/services"
import type { Page } from "@satrail/core/ledger/Page"
import { Context, type Effect, type Layer } from "effect"
import type { Shared } from "./Shared.ts"

/** The core's modules that host programs use. */
const modules = { ...Root, ...More }
type Modules = typeof modules

/** The services that `Satrail.layer` provides. */
export type Provided = Layer.Success<ReturnType<typeof Satrail.layer>>

/** A module's service of the same name. */
type ServiceOf<N extends keyof Modules> = Modules[N] extends {
  readonly [P in N]: Context.Key<infer I, infer S>
}
  ? I extends Provided
    ? S
    : never
  : never

type Name = { readonly [N in keyof Modules]: [ServiceOf<N>] extends [never] ? never : N }[keyof Modules]

/**
 * Services that are not exposed. `pay.events` and `pay.on` read the stream of `Events`, and the journal is a
 * storage port.
 */
const elsewhere = ["Events", "Journal"] as const
type Elsewhere = (typeof elsewhere)[number]

type Core = { readonly [N in Exclude<Name, Elsewhere> as Uncapitalize<N>]: ServiceOf<N> }
type At<T, N> = N extends keyof T ? T[N] : unknown

/**
 * The core's services by public name, such as `lightningAddresses`, with the methods that the HTTP API has in
 * another form.
 */
export type Services = {
  readonly [N in keyof Core | keyof Shared]: Omit<At<Core, N>, keyof At<Shared, N>> & At<Shared, N>
}
export type Noun = keyof Services

/** The record in a result, which may be a list. */
export type Row<R> = R extends Page<infer A> | ReadonlyArray<infer A> ? A : R

/** The result of a service's method, in the core's types. */
export type ResultOf<F> = F extends (...asked: never) => infer R ? Done<R> : Done<F>
type Done<R> =
  R extends Effect.Effect<infer A, unknown, unknown> ? ([A] extends [Outcome<infer Value>] ? Value : A) : R

/** The services' keys, by public name. */
export const keys: ReadonlyMap<string, Context.Key<unknown, object>> = new Map(
  Object.entries(modules).flatMap(
    ([name, module]): ReadonlyArray<readonly [string, Context.Key<unknown, object>]> => {
      const key: unknown = Reflect.get(module, name)
      if (!Context.isKey(key) || elsewhere.some((one) => one === name)) return []
      return [[`${name.charAt(0).toLowerCase()}${name.slice(1)}`, key]]
    }
  )
)
