import { Layer } from "effect"
import type { AnyLayer, Feature } from "./Feature.ts"

/** Each layer over those before it: what they have is provided to it, and is there afterwards as well. */
type Over<Layers, Out = never, E = never, In = never> = Layers extends readonly [
  infer First extends { readonly layer: AnyLayer },
  ...infer Rest
]
  ? Over<Rest, Out | Layer.Success<First["layer"]>, E | Layer.Error<First["layer"]>, In | Exclude<Layer.Services<First["layer"]>, Out>>
  : Layer.Layer<Out, E, In>

/** The services of these features, in that order. */
export const services = <const Features extends ReadonlyArray<Feature>>(features: Features): Over<Features> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  features.reduce<AnyLayer>((before, { layer }) => Layer.provideMerge(layer, before), Layer.empty) as never

/** What they add to the money path, each over those before it. */
export const extensions = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Layer.Layer<never, Layer.Error<Features[number]["extensions"]>, Layer.Services<Features[number]["extensions"]>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  features.reduce<AnyLayer>((before, { extensions }) => Layer.provideMerge(extensions, before), Layer.empty) as never

/** Their workers. */
export const workers = <const Features extends ReadonlyArray<Feature>>(
  features: Features
): Layer.Layer<never, Layer.Error<Features[number]["workers"]>, Layer.Services<Features[number]["workers"]>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Layer.mergeAll(Layer.empty, ...features.map(({ workers }) => workers)) as never
