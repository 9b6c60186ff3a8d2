import type { Random } from "@satrail/testing/Random"
import type { To } from "../plot/Chance.ts"
import { plot as approvals } from "./approvals/Plot.ts"
import { plot as checkouts } from "./checkouts/Plot.ts"
import { plot as offers } from "./offers/Plot.ts"
import { plot as refunds } from "./refunds/Plot.ts"
import { plot as vouchers } from "./vouchers/Plot.ts"
import { plot as webhooks } from "./webhooks/Plot.ts"

/** The operations of each feature. Changing their order changes the scenarios of all seeds. */
export const plots = [webhooks, approvals, checkouts, vouchers, refunds, offers] as const

/** An operation of a feature, as drawn. */
interface Drawn {
  readonly _tag: string
}

/** The optional parts of a feature's plot. */
interface Plot {
  /** Calls that are most likely to cause damage when they fail. */
  readonly critical?: ReadonlyArray<string>
  /** Paths of list endpoints. */
  readonly lists?: ReadonlyArray<string>
  /** Invalid bodies, each with its path. */
  readonly malformed?: ReadonlyArray<readonly [path: string, body: string]>
  /** Paths that create nothing while sending is paused. */
  readonly sends?: ReadonlyArray<string>
  /** Paths that create nothing while receiving is paused. */
  readonly receives?: ReadonlyArray<string>
  /** Draws limits of a company or a key, by name. */
  readonly limits?: (random: Random) => { readonly [name: string]: number }
  /** Draws the operations on the first company with which a scenario starts, if any. */
  readonly begin?: (random: Random) => Drawn | undefined
  /** Draws an operation that spends this amount of the first company's money. */
  readonly spend?: (random: Random, sats: number) => Drawn
  /** Draws an operation that sends money to a destination. */
  readonly pay?: (random: Random, to: To) => Drawn
  /** Draws an operation that requests a payment. */
  readonly receive?: (random: Random) => Drawn
  /** Draws an operation on the latest record. */
  readonly follow?: (random: Random) => Drawn
}

/** The same list, typed by the interface. */
export const all: ReadonlyArray<Plot> = plots

type Together<Features, Part extends string, All = object> = Features extends readonly [
  infer First,
  ...infer Rest
]
  ? Together<Rest, Part, First extends { readonly [part in Part]: infer P } ? All & P : All>
  : All

/** Merges the same part of all features into one object. */
export const together = <
  const Features extends ReadonlyArray<{ readonly [part in Part]: object }>,
  const Part extends string
>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- merges them in the order of the types
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
