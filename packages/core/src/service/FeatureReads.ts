import { Context, Effect, Layer } from "effect"
import * as Traced from "../base/Traced.ts"
import type { AnyReads } from "../ledger/Feature.ts"
import { features } from "../features/index.ts"

type Keys = Exclude<(typeof features)[number]["reads"], undefined>
type Merged<Shape> = (Shape extends unknown ? (shape: Shape) => void : never) extends (all: infer All) => void ? All : never

/** Read ports of all features. A storage adapter provides each of them. */
export type FeatureReads = Keys["Identifier"]

/** The methods of all read ports. */
export type Reads = Merged<Keys["Service"]>

const keys = features.flatMap(({ reads }): ReadonlyArray<AnyReads> => (reads === undefined ? [] : [reads]))

/** All read ports in one value. */
export const all: Effect.Effect<Reads, never, FeatureReads> =
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `Reads` types the same merge
  Effect.map(Effect.all(keys), (ports) => Object.assign({}, ...ports)) as never

export const from = (reads: Reads): Context.Context<FeatureReads> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the value implements every port
  keys.reduce<Context.Context<never>>((ports, key) => Context.add(ports, key, reads) as never, Context.empty()) as never

export const layerTraced: Layer.Layer<FeatureReads, never, FeatureReads> =
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the same ports, traced
  Layer.mergeAll(Layer.empty, ...keys.map(Traced.layer)) as never
