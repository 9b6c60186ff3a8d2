import type { Msat } from "@satrail/bitcoin/Msat"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type * as Waiting from "@satrail/core/ledger/Waiting"
import type * as Written from "@satrail/core/ledger/Written"
import type { Records } from "@satrail/core/service/Records"
import type { Promises } from "../Contract.ts"
import type { Made, Subject } from "../Subject.ts"

/** What a record of a feature holds, and since when it waits. */
export interface Held {
  readonly serviceFee?: Msat
  readonly networkAllowance?: Msat
  readonly createdAtMillis?: number
  readonly expiresAtMillis?: number
}

/** What a feature of the core promises of every store. */
export interface Feature {
  /** Promises that keep people's money right, of the Journal. */
  readonly money?: Promises<Journal | Records | Tasks>
  readonly other?: Promises<Journal | Records | Tasks>
  /** Promises of what is read. */
  readonly records?: Promises<Journal | Records | Tasks>
  /** How a record of each of its nouns is made and moved. */
  readonly subjects: { readonly [noun: string]: Subject }
  /** Its moves of records whose noun is not its own, by noun. */
  readonly moves?: { readonly [noun: string]: Subject["moves"] }
  /** Changes that take so many sats of a company, each made anew: what refuses a withdrawal refuses them. */
  readonly spends?: ReadonlyArray<(companyId: CompanyId, sats: number) => Made<Written.Any>>
  /** Records that hold so many sats and wait, by what they wait for. Their job is due at `expiresAtMillis`. */
  readonly holds?: { readonly [kind in Waiting.Kind]?: (companyId: CompanyId, sats: number, fields?: Held) => Made<Written.Any> }
  /** Commits a record in each state that money can be in, of a company that has 1,000 sats or more. */
  readonly everyState?: (companyId: CompanyId) => Made<void>
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The parts that are folded into one. */
type Whole = "money" | "other" | "records" | "subjects"

/** The same part of all of them, in one. */
export type Together<Features, Part extends Whole, All = unknown> = Features extends readonly [infer First, ...infer Rest]
  ? Together<Rest, Part, First extends { readonly [part in Part]: infer P } ? All & P : All>
  : All

export const together = <const Features extends ReadonlyArray<Feature>, Part extends Whole>(
  features: Features,
  part: Part
): Together<Features, Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Object.assign({}, ...features.map((feature) => feature[part])) as Together<Features, Part>
