import { Layer } from "effect"
import type { AnyLayer, Feature } from "./Feature.ts"

type Part = "layer" | "extensions"

/** Each layer over those before it: what they have is provided to it, and is there afterwards as well. */
type Over<Features, P extends Part, Out = never, E = never, In = never> = Features extends readonly [
  infer First extends { readonly [part in P]: AnyLayer },
  ...infer Rest
]
  ? Over<Rest, P, Out | Layer.Success<First[P]>, E | Layer.Error<First[P]>, In | Exclude<Layer.Services<First[P]>, Out>>
  : Layer.Layer<Out, E, In>

const over = (features: ReadonlyArray<Feature>, part: Part): AnyLayer =>
  features.reduce<AnyLayer>((before, feature) => Layer.provideMerge(feature[part], before), Layer.empty)

/** The services of these features, in that order. */
export const services = <const Features extends ReadonlyArray<Feature>>(features: Features): Over<Features, "layer"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  over(features, "layer") as never

/** What they add to the money path, in that order. */
export const extensions = <const Features extends ReadonlyArray<Feature>>(features: Features): Over<Features, "extensions"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  over(features, "extensions") as never

/** Their workers. */
export const workers = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Layer.Layer<never, Layer.Error<Features[number]["workers"]>, Layer.Services<Features[number]["workers"]>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Layer.mergeAll(Layer.empty, ...features.map(({ workers }) => workers)) as never
