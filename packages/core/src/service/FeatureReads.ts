import { Context, Effect, Layer } from "effect"
import * as Traced from "../base/Traced.ts"
import type { AnyReads, Feature } from "../ledger/Feature.ts"
import { Features } from "../ledger/Features.ts"
import type { Registered } from "../ledger/Registry.ts"

type KeysOf<F> = F extends { readonly reads: infer K } ? Exclude<K, undefined> : never
type Keys = Extract<KeysOf<Registered>, AnyReads>
type Merged<Shape> = (Shape extends unknown ? (shape: Shape) => void : never) extends (all: infer All) => void
  ? All
  : never

/** Read ports of all registered features. A storage adapter provides each of them. */
export type FeatureReads = Keys["Identifier"]

/** The methods of all read ports. */
export type Reads = [Keys] extends [never] ? object : Merged<Keys["Service"]>

const portsOf = (features: ReadonlyArray<Feature>) =>
  features.flatMap(({ reads }): ReadonlyArray<AnyReads> => (reads === undefined ? [] : [reads]))

/** All read ports of the given features in one value. */
export const all: Effect.Effect<Reads, never, FeatureReads> =
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `Reads` types the same merge
  Effect.flatMap(Features, (features) =>
    Effect.map(Effect.all(portsOf(features)), (ports) => Object.assign({}, ...ports))
  ) as never

/** The read ports of these features, from one value that implements them all. */
export const from = (features: ReadonlyArray<Feature>, reads: Reads): Context.Context<FeatureReads> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the value implements every port
  Context.makeUnsafe(new Map(portsOf(features).map((key) => [key.key, reads]))) as never

export const layerTraced: Layer.Layer<FeatureReads, never, FeatureReads> =
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the same ports, traced
  Layer.unwrap(
    Effect.map(Features, (features) => Layer.mergeAll(Layer.empty, ...portsOf(features).map(Traced.layer)))
  ) as never
