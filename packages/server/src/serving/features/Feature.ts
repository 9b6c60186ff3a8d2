import { Layer } from "effect"
import type { Environment } from "../../deployment/Environment.ts"
import type { Given } from "../../sandbox/Controls.ts"

/** A feature's part of this server. */
export interface Feature {
  /** Provides what the feature's services, routes and workers need from outside. */
  readonly references?: (environment: Environment) => Layer.Layer<never>
  /** Provides the feature's workers that call other parties' servers. */
  readonly workers?: (environment: Environment) => Layer.Layer<never, never, unknown>
  /** The sandbox's operations that control the other end of the feature. */
  readonly controls?: ReadonlyArray<unknown>
  /** Provides what the sandbox's routes need. */
  readonly sandbox?: (controls: Given) => Layer.Layer<never>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** Merges these layers. */
export const merged = <R = never>(
  layers: ReadonlyArray<Layer.Layer<never, never, R>>
): Layer.Layer<never, never, R> => layers.reduce((all, one) => Layer.merge(all, one), Layer.empty)

type NeedsOf<F> = F extends {
  readonly workers: (environment: Environment) => Layer.Layer<never, never, infer R>
}
  ? R
  : never

/** Merges these features' workers. */
export const workers = <F extends Feature>(
  features: ReadonlyArray<F>,
  environment: Environment
): Layer.Layer<never, never, NeedsOf<F>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the list's type at run time doesn't contain the features' requirements
  merged(
    features.flatMap(({ workers }) => (workers === undefined ? [] : [workers(environment)]))
  ) as Layer.Layer<never, never, NeedsOf<F>>

type ControlOf<F> = F extends { readonly controls: ReadonlyArray<infer One> } ? One : never

/** Returns these features' operations of the sandbox. */
export const controls = <F extends Feature>(features: ReadonlyArray<F>): ReadonlyArray<ControlOf<F>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- each of these operations is in the type of its feature
  features.flatMap(({ controls = [] }) => controls) as ReadonlyArray<ControlOf<F>>
