import { plot as offers } from "./offers/Plot.ts"
import { plot as vouchers } from "./vouchers/Plot.ts"

/** What is done with each feature. */
export const plots = [vouchers, offers] as const

type Together<Features, Part extends string, All = unknown> = Features extends readonly [infer First, ...infer Rest]
  ? Together<Rest, Part, First extends { readonly [part in Part]: infer P } ? All & P : All>
  : All

/** The same part of all of them, in one. */
export const together = <const Features extends ReadonlyArray<{ readonly [part in Part]: object }>, const Part extends string>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
