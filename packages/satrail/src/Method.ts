import type { Read, Written } from "@satrail/client/Schemas"
import type { Given } from "./Ask.ts"
import type { Noun, ResultOf, Services } from "./Nouns.ts"
import type { Reply } from "./Reply.ts"
import type { defaults, renamed } from "./Verbs.ts"

/** A method's default values. */
export type DefaultsOf<N, K> = N extends keyof typeof defaults
  ? K extends keyof (typeof defaults)[N]
    ? (typeof defaults)[N][K]
    : undefined
  : undefined

/** A method of a core service as an async function. `M` is the type of metadata in replies, `W` in requests. */
export type Method<F, D, M, W = M> = F extends (...asked: infer A) => unknown
  ? (...asked: Given<A, D, W>) => Promise<Reply<ResultOf<F>, M>>
  : () => Promise<Reply<ResultOf<F>, M>>

type CoreName<N, K> = N extends keyof typeof renamed ? (K extends keyof (typeof renamed)[N] ? (typeof renamed)[N][K] : K) : K

/** A method by noun and name. */
export type Async<N extends string, K extends string, M> = N extends Noun
  ? CoreName<N, K> extends infer Name extends keyof Services[N]
    ? Method<Services[N][Name], DefaultsOf<N, K>, Read<M, N>, Written<M, N>>
    : never
  : never
