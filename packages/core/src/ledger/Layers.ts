import { Layer } from "effect"
import type { AnyLayer, Feature } from "./Feature.ts"

type Part = "layer" | "extensions"

/** Provides each layer with the services of the layers before it, and merges all of them. */
type Over<Features, P extends Part, Out = never, E = never, In = never> = Features extends readonly [
  infer First extends { readonly [part in P]: AnyLayer },
  ...infer Rest
]
  ? Over<
      Rest,
      P,
      Out | Layer.Success<First[P]>,
      E | Layer.Error<First[P]>,
      In | Exclude<Layer.Services<First[P]>, Out>
    >
  : Layer.Layer<Out, E, In>

const over = (features: ReadonlyArray<Feature>, part: Part): AnyLayer =>
  features.reduce<AnyLayer>((before, feature) => Layer.provideMerge(feature[part], before), Layer.empty)

/** Returns the services of these features. Each may use those of earlier features. */
export const services = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Over<Features, "layer"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `Over` types the same fold
  over(features, "layer") as never

/** Returns these features' extensions to the money path, in the order of the features. */
export const extensions = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Over<Features, "extensions"> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `Over` types the same fold
  over(features, "extensions") as never

export const workers = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Layer.Layer<
  never,
  Layer.Error<Features[number]["workers"]>,
  Layer.Services<Features[number]["workers"]>
> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the return type merges the same layers
  Layer.mergeAll(Layer.empty, ...features.map(({ workers }) => workers)) as never
