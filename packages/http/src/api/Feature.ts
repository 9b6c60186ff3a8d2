import type { Effect, Layer, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Kind } from "./Credentials.ts"
import type { Extension } from "../edge/Extension.ts"
import type { Json } from "../wire/Json.ts"
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

/** A feature's additions to the customers' OpenAPI document. */
export interface Described {
  readonly members: Json
  readonly components: Json
}

/** The events about a kind of record: their types, and the name of their schema. */
export interface Published {
  readonly kind: string
  readonly types: ReadonlyArray<string>
  readonly identifier: string
}

/** Rules that JSON Schema cannot express; SchemaExceptions.ts has their texts. */
export type Rule =
  | "known"
  | "supported"
  | "decimals"
  | "together"
  | "times"
  | "bytes"
  | "limits"
  | "wellFormed"
  | "eventTypes"
  | "splits"

/** The HTTP part of a feature. Each field is optional. */
export interface Feature {
  /** Sections of its operations, for companies and for the operator. */
  readonly sections?: ReadonlyArray<Section>
  readonly operatorSections?: ReadonlyArray<Section>
  /** Operations in the sections `receive`, `send` and `read`. */
  readonly receive?: ReadonlyArray<Operation>
  readonly send?: ReadonlyArray<Operation>
  readonly read?: ReadonlyArray<Operation>
  readonly errors?: { readonly table: OwnErrors.OwnErrors }
  /** The event body of each record type. */
  readonly views?: { readonly [kind: string]: View.View<never, Schema.Struct.Fields> }
  /** Operations in the section `operator`. */
  readonly operator?: ReadonlyArray<Operation>
  /** Operations with which the operator reads a company's records. */
  readonly ofCompany?: ReadonlyArray<Operation>
  /** Query parameters whose values traces must not record. */
  readonly redactedParameters?: ReadonlyArray<string>
  /** Layers that provide references defined by lower layers or other features, such as `SignedIn`. */
  readonly provides?: ReadonlyArray<Layer.Layer<never, never, unknown>>
  /** Kinds of credential, other than API keys, that act for companies. */
  readonly credentials?: ReadonlyArray<Effect.Effect<Kind, never, unknown>>
  /** Routes of the console, if it is served. */
  readonly console?: ReadonlyArray<Layer.Layer<never, never, unknown>>
  /** Receives the published events by kind of record. */
  readonly openapi?: (events: ReadonlyArray<Published>) => Described
  /** Fields of this feature's operations to which rules beyond the schemas apply. */
  readonly schemaExceptions?: { readonly [rule in Rule]?: ReadonlyArray<string> }
  /** Routes outside the API. `proxies` is the same as in `Lnurl.extension`. */
  readonly extensions?: ReadonlyArray<(proxies?: number) => Extension<never, unknown>>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The result type of `joined`. */
export type Joined<
  Features,
  Part extends keyof Feature,
  All extends ReadonlyArray<unknown> = readonly []
> = Features extends readonly [infer First, ...infer Rest]
  ? Joined<
      Rest,
      Part,
      First extends { readonly [part in Part]: infer List extends ReadonlyArray<unknown> }
        ? readonly [...All, ...List]
        : All
    >
  : All

/** Concatenates the features' lists in the field `part`. */
export const joined = <
  const Features extends ReadonlyArray<Feature>,
  Part extends Exclude<keyof Feature, "errors" | "views" | "openapi" | "schemaExceptions">
>(
  features: Features,
  part: Part
): Joined<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the lists are joined one by one, like the types
  features.flatMap((feature): ReadonlyArray<unknown> => feature[part] ?? []) as never

type NeedsOf<Make> = Make extends (proxies?: number) => Extension<never, infer R> ? R : never

/** Returns the extensions of all features. */
export const extensions = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): ReadonlyArray<(proxies?: number) => Extension<never, NeedsOf<Joined<Features, "extensions">[number]>>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the lists are joined one by one, like the types
  joined(features, "extensions") as never
