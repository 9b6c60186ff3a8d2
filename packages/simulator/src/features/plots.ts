import type { Random } from "@satrail/testing/Random"
import type { To } from "../plot/Chance.ts"
import { plot as approvals } from "./approvals/Plot.ts"
import { plot as checkouts } from "./checkouts/Plot.ts"
import { plot as offers } from "./offers/Plot.ts"
import { plot as refunds } from "./refunds/Plot.ts"
import { plot as vouchers } from "./vouchers/Plot.ts"

/** What is done with each feature. */
export const plots = [approvals, checkouts, vouchers, refunds, offers] as const

/** An operation of a feature: its draws say more of it. */
interface Drawn {
  readonly _tag: string
}

/** What any of them may have. */
interface Plot {
  /** Calls around which most can go wrong. */
  readonly critical?: ReadonlyArray<string>
  /** Paths of lists. */
  readonly lists?: ReadonlyArray<string>
  /** Bodies that cannot be taken, each with its path. */
  readonly malformed?: ReadonlyArray<readonly [path: string, body: string]>
  /** Paths under which nothing is created while sending is stopped. */
  readonly sends?: ReadonlyArray<string>
  /** The same, of receiving. */
  readonly receives?: ReadonlyArray<string>
  /** Takes so much of the first company's money. */
  readonly spend?: (random: Random, sats: number) => Drawn
  /** Sends money there. */
  readonly pay?: (random: Random, to: To) => Drawn
  /** Asks for a payment. */
  readonly receive?: (random: Random) => Drawn
  /** Goes on with the latest record. */
  readonly follow?: (random: Random) => Drawn
}

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Plot> = plots

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
