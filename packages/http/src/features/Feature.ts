import type { Effect, Layer, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Extension } from "../edge/Extension.ts"
import type * as OwnErrors from "../wire/OwnErrors.ts"
import type * as View from "../wire/View.ts"

interface Section {
  readonly group: HttpApiGroup.Constraint
  readonly layer: Layer.Layer<never, unknown, unknown>
}

interface Operation {
  readonly endpoint: HttpApiEndpoint.Constraint
  readonly handler: Effect.Effect<unknown, unknown, unknown>
}

/** What a feature is over HTTP. It has what it names, and nothing of the rest. */
export interface Feature {
  /** Its groups of operations: those of companies, and those of the operator. */
  readonly sections?: ReadonlyArray<Section>
  readonly operatorSections?: ReadonlyArray<Section>
  readonly errors?: { readonly table: OwnErrors.OwnErrors }
  /** The body of each kind of record in an event. */
  readonly views?: { readonly [kind: string]: View.View<never, Schema.Struct.Fields> }
  /** Operations of the section `operator`. */
  readonly operator?: ReadonlyArray<Operation>
  /** What the operator reads of a company. */
  readonly ofCompany?: ReadonlyArray<Operation>
  /** Names in queries whose values no trace repeats. */
  readonly unsaid?: ReadonlyArray<string>
  /** Layers of references that lower floors or other features declare, such as `SignedIn`. */
  readonly provides?: ReadonlyArray<Layer.Layer<never, never, unknown>>
  /** Paths beside the API's. `proxies` as in `Lnurl.extension`. */
  readonly extensions?: ReadonlyArray<(proxies?: number) => Extension<never, unknown>>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The lists that each of them has under this name, in one. */
export type Joined<Features, Part extends keyof Feature, All extends ReadonlyArray<unknown> = readonly []> = Features extends readonly [
  infer First,
  ...infer Rest
]
  ? Joined<
      Rest,
      Part,
      First extends { readonly [part in Part]: infer List extends ReadonlyArray<unknown> } ? readonly [...All, ...List] : All
    >
  : All

/** The lists that each of them has under this name, in one. */
export const joined = <const Features extends ReadonlyArray<Feature>, Part extends Exclude<keyof Feature, "errors" | "views">>(
  features: Features,
  part: Part
): Joined<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  features.flatMap((feature): ReadonlyArray<unknown> => feature[part] ?? []) as never

type NeedsOf<Make> = Make extends (proxies?: number) => Extension<never, infer R> ? R : never

/** The extensions of all of them. */
export const extensions = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): ReadonlyArray<(proxies?: number) => Extension<never, NeedsOf<Joined<Features, "extensions">[number]>>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  joined(features, "extensions") as never
