import type { Read, Written } from "@satrail/client/Schemas"
import type { CallOptions, CompanyRef, List } from "@satrail/client/Calls"
import type { Page } from "@satrail/core/ledger/Page"
import type { Given, Query } from "./Ask.ts"
import type { Noun, ResultOf, Services } from "./Nouns.ts"
import type { Reply } from "./Reply.ts"
import type { defaults, renamed } from "./Verbs.ts"

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

/** A core service's method as an async function. `M` is the type of the metadata in responses, and `W` in requests. */
export type Method<F, D, M, W = M> = F extends (...asked: infer A) => unknown
  ? ResultOf<F> extends Page<infer Row>
    ? (...asked: Listed<A, W>) => List<Reply<Row, M>>
    : (...asked: Given<A, D, W>) => Promise<Reply<ResultOf<F>, M>>
  : () => Promise<Reply<ResultOf<F>, M>>

type CoreName<N, K> = N extends keyof typeof renamed ? (K extends keyof (typeof renamed)[N] ? (typeof renamed)[N][K] : K) : K

/** A method, by service and name. */
export type Async<N extends string, K extends string, M> = N extends Noun
  ? CoreName<N, K> extends infer Name extends keyof Services[N]
    ? Method<Services[N][Name], DefaultsOf<N, K>, Read<M, N>, Written<M, N>>
    : never
  : never
