import type { Random } from "@satrail/testing/Random"
import type { To } from "../plot/Chance.ts"
import { plot as approvals } from "./approvals/Plot.ts"
import { plot as checkouts } from "./checkouts/Plot.ts"
import { plot as offers } from "./offers/Plot.ts"
import { plot as refunds } from "./refunds/Plot.ts"
import { plot as vouchers } from "./vouchers/Plot.ts"
import { plot as webhooks } from "./webhooks/Plot.ts"

/** The operations of each feature. Their order is part of what a seed determines. */
export const plots = [webhooks, approvals, checkouts, vouchers, refunds, offers] as const

/** An operation of a feature, as drawn. */
interface Drawn {
  readonly _tag: string
}

/** The optional parts of a feature's plot. */
interface Plot {
  /** Calls where the most can go wrong. */
  readonly critical?: ReadonlyArray<string>
  /** Paths of list endpoints. */
  readonly lists?: ReadonlyArray<string>
  /** Invalid bodies, each with its path. */
  readonly malformed?: ReadonlyArray<readonly [path: string, body: string]>
  /** Paths that create nothing while sending is paused. */
  readonly sends?: ReadonlyArray<string>
  /** Paths that create nothing while receiving is paused. */
  readonly receives?: ReadonlyArray<string>
  /** May do something for the first company at the start of a story. */
  readonly begin?: (random: Random) => Drawn | undefined
  /** Spends this amount of the first company's money. */
  readonly spend?: (random: Random, sats: number) => Drawn
  /** Sends money to a destination. */
  readonly pay?: (random: Random, to: To) => Drawn
  /** Requests a payment. */
  readonly receive?: (random: Random) => Drawn
  /** Continues with the latest record. */
  readonly follow?: (random: Random) => Drawn
}

/** The same list, typed by the interface. */
export const all: ReadonlyArray<Plot> = plots

type Together<Features, Part extends string, All = object> = Features extends readonly [infer First, ...infer Rest]
  ? Together<Rest, Part, First extends { readonly [part in Part]: infer P } ? All & P : All>
  : All

/** Merges the same part of all features into one object. */
export const together = <const Features extends ReadonlyArray<{ readonly [part in Part]: object }>, const Part extends string>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- merges them in the order of the types
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
