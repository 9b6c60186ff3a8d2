import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { Records } from "@satrail/core/service/Records"
import type { Promises } from "../Contract.ts"
import type { Subject } from "../Subject.ts"

/** What a feature of the core promises of every store. */
export interface Feature {
  /** Promises that keep people's money right, of the Journal. */
  readonly money: Promises<Journal | Records | Tasks>
  readonly other: Promises<Journal | Records | Tasks>
  /** How a record of each of its nouns is made and moved. */
  readonly subjects: { readonly [noun: string]: Subject }
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The same part of all of them, in one. */
export type Together<Features, Part extends keyof Feature, All = unknown> = Features extends readonly [
  infer First extends Feature,
  ...infer Rest
]
  ? Together<Rest, Part, All & First[Part]>
  : All

export const together = <const Features extends ReadonlyArray<Feature>, Part extends keyof Feature>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
