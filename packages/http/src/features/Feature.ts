import type { Effect, Layer, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type * as OwnErrors from "../wire/OwnErrors.ts"
import type { Extension } from "../edge/Extension.ts"
import type * as View from "../wire/View.ts"

interface Section {
  readonly group: HttpApiGroup.Constraint
  readonly layer: Layer.Layer<never, unknown, unknown>
}

interface Operation {
  readonly endpoint: HttpApiEndpoint.Constraint
  readonly handler: Effect.Effect<unknown, unknown, unknown>
}

/** What a feature is over HTTP. */
export interface Feature {
  readonly section: Section
  readonly errors: { readonly table: OwnErrors.OwnErrors }
  /** What each kind of record that companies are told about is in an event. */
  readonly views: { readonly [kind: string]: View.View<never, Schema.Struct.Fields> }
  /** What the operator reads of a company. */
  readonly ofCompany: ReadonlyArray<Operation>
  /** Names in queries that no trace repeats. */
  readonly unsaid: ReadonlyArray<string>
  /** Paths beside the API's. `proxies` as in `Lnurl.extension`. */
  readonly extension: (proxies?: number) => Extension<never, unknown>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The same part of each of them. */
export type Each<Features extends ReadonlyArray<Feature>, Part extends keyof Feature> = {
  readonly [I in keyof Features]: Features[I][Part]
}

/** Lists of all of them, in one. */
export type Joined<Features, Part extends keyof Feature, All extends ReadonlyArray<unknown> = readonly []> = Features extends readonly [
  infer First extends Feature,
  ...infer Rest
]
  ? Joined<Rest, Part, First[Part] extends ReadonlyArray<unknown> ? readonly [...All, ...First[Part]] : All>
  : All

export const sections = <const Features extends ReadonlyArray<Feature>>(features: Features): Each<Features, "section"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  features.map(({ section }) => section) as never

export const ofCompany = <const Features extends ReadonlyArray<Feature>>(features: Features): Joined<Features, "ofCompany"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  features.flatMap(({ ofCompany }) => ofCompany) as never
