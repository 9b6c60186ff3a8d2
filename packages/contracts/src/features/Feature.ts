import type { Msat } from "@satrail/bitcoin/Msat"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type * as Waiting from "@satrail/core/ledger/Waiting"
import type * as Written from "@satrail/core/ledger/Written"
import type { Records } from "@satrail/core/service/Records"
import type { Promises } from "../Contract.ts"
import type { Made, Subject } from "../Subject.ts"

/** The fees that a record holds, when it started waiting, and when it expires. */
export interface Held {
  readonly serviceFee?: Msat
  readonly networkAllowance?: Msat
  readonly createdAtMillis?: number
  readonly expiresAtMillis?: number
}

/** Contract tests of a core feature, run against every store. */
export interface Feature {
  /** Journal guarantees that protect customers' money. */
  readonly money?: Promises<Journal | Records | Tasks>
  readonly other?: Promises<Journal | Records | Tasks>
  /** Guarantees about reads. */
  readonly records?: Promises<Journal | Records | Tasks>
  /** Read guarantees that protect customers' money. */
  readonly books?: Promises<Journal | Records | Tasks>
  /** How to create and update records of each of the feature's types. */
  readonly subjects: { readonly [noun: string]: Subject }
  /** The transitions that the feature adds to other features' records, by record type. */
  readonly moves?: { readonly [noun: string]: Subject["moves"] }
  /**
   * Builds Changes that spend this many of a company's sats. They must be refused for the same reasons as a
   * withdrawal.
   */
  readonly spends?: ReadonlyArray<(companyId: CompanyId, sats: number) => Made<Written.Any>>
  /**
   * Builders of waiting records that hold this many sats, by the reason for waiting. Each record's job is due
   * at `expiresAtMillis`.
   */
  readonly holds?: {
    readonly [kind in Waiting.Kind]?: (companyId: CompanyId, sats: number, fields?: Held) => Made<Written.Any>
  }
  /** Commits one record for each state that funds can be in. The company must have at least 1,000 sats. */
  readonly everyState?: (companyId: CompanyId) => Made<void>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The parts that are merged across features. */
type Whole = "money" | "other" | "records" | "books" | "subjects"

/** The same part of all features, merged. */
export type Together<Features, Part extends Whole, All = object> = Features extends readonly [
  infer First,
  ...infer Rest
]
  ? Together<Rest, Part, First extends { readonly [part in Part]: infer P } ? All & P : All>
  : All

export const together = <const Features extends ReadonlyArray<Feature>, Part extends Whole>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- merges them in the order of the types
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
