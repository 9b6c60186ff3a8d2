import type { Read, Written } from "@satrail/client/Schemas"
import type { CallOptions, CompanyRef, List } from "@satrail/client/Calls"
import type { Client } from "@satrail/client/Client"
import type { Page } from "@satrail/core/ledger/Page"
import type { Given, Query } from "./Ask.ts"
import type { Noun, ResultOf, Services } from "./Nouns.ts"
import type { Reply } from "./Reply.ts"
import type { CoreName, defaults } from "./Verbs.ts"
import type { Both, Seen } from "./Views.ts"

/** A method's default values. */
export type DefaultsOf<N, K> = N extends keyof typeof defaults
  ? K extends keyof (typeof defaults)[N]
    ? (typeof defaults)[N][K]
    : undefined
  : undefined

/** The arguments of a list, as in `@satrail/client`. */
type Listed<A, M> = A extends readonly [infer Q]
  ? [query?: Query<Q, M> & CallOptions]
  : A extends readonly [unknown, infer Q]
    ?
        | [query: Query<Q, M> & Pick<CallOptions, "signal"> & { readonly company: CompanyRef }]
        | [company: CompanyRef, query?: Query<Q, M> & CallOptions]
    : A extends readonly [unknown, unknown, infer Q]
      ? [company: CompanyRef, id: string, query?: Query<Q, M> & CallOptions]
      : never

/** A result with the fields of its view. */
type Shown<R, M, S> =
  R extends ReadonlyArray<infer A>
    ? unknown extends S
      ? Reply<R, M>
      : ReadonlyArray<Both<Reply<A, M>, S>>
    : Both<Reply<R, M>, S>

/**
 * A core service's method as an async function. `M` is the type of the metadata in responses, and `W` in
 * requests. `S` is the client's record.
 */
export type Method<F, D, M, W = M, S = unknown> = F extends (...asked: infer A) => unknown
  ? ResultOf<F> extends Page<infer Row>
    ? (...asked: Listed<A, W>) => List<Both<Reply<Row, M>, S>>
    : (...asked: Given<A, D, W>) => Promise<Shown<ResultOf<F>, M, S>>
  : () => Promise<Reply<ResultOf<F>, M>>

/** A method, by service and name. */
export type Async<N extends string, K extends string, M> = N extends Noun
  ? CoreName<N, K> extends infer Name extends keyof Services[N]
    ? Method<Services[N][Name], DefaultsOf<N, K>, Read<M, N>, Written<M, N>, Seen<N, K, Read<M, N>>>
    : never
  : never

type FirstOf<F> = F extends (ask: infer A) => unknown ? A : never

/**
 * `Async`, with the client's options, because editors show the comments of an interface, but not those of a
 * mapped type. The core's other options are added.
 */
export type Commented<N extends keyof Client & string, K extends keyof Client[N] & string, M> =
  Async<N, K, M> extends (ask: infer G) => infer R
    ? FirstOf<Client<M>[N][K & keyof Client<M>[N]]> extends infer A
      ? (ask: A & { readonly company: CompanyRef } & Omit<G, keyof A>) => R
      : never
    : never
