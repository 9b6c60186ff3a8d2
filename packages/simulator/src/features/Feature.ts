import type * as Msat from "@satrail/bitcoin/Msat"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import type { ChangeOf, Feature as OfCore } from "@satrail/core/ledger/Feature"
import type { Noun, Row } from "@satrail/core/ledger/Noun"
import type * as Written from "@satrail/core/ledger/Written"
import type { Conflict, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { Change } from "@satrail/core/service/Changes"
import type { AllReads } from "@satrail/core/service/Records"
import type * as Lightning from "@satrail/sandbox/Lightning"
import type { Random } from "@satrail/testing/Random"
import type { Effect } from "effect"
import type { Act, Operation } from "../plot/Operation.ts"
import type { Crash } from "../plot/Scenes.ts"
import type { Answer, Ask } from "../story/Stage.ts"
import type { Coverage } from "../world/Coverage.ts"
import type { World } from "../world/World.ts"

/** States that scenarios produce a kind of Change, or why they don't. */
export type How = "happens" | { readonly never: string }

/** The kinds of Change that may move money: all except those whose type excludes postings. */
export type Moving<C extends { readonly _tag: string }> = C extends { readonly legs: ReadonlyArray<never> }
  ? never
  : C["_tag"]

/** A company's deposits and withdrawals. */
export interface Moved {
  readonly deposits: ReadonlyArray<Deposit>
  readonly withdrawals: ReadonlyArray<Withdrawal>
}

/**
 * A record type with a status, and the checks that hold for it in every scenario. They are stated independently
 * of its declaration.
 */
interface Checks<A> {
  readonly kind: string
  /** Allowed transitions. A status without an entry is final. */
  readonly moves: { readonly [from: string]: ReadonlyArray<string> }
  /** Statuses in which a record may remain although another status may follow. */
  readonly rests?: ReadonlyArray<string>
  /** The type of the last event about a record, by its final status. */
  readonly told: { readonly [status: string]: RegExp }
  /** Returns the amount of its company's money that a record currently holds. */
  readonly held: (row: A) => Msat.Msat
  /** Returns the withdrawal that a record became. The original request belongs to the record, not to the withdrawal. */
  readonly became: (row: A) => string | null
  /** Returns the metadata of a record's request, or null if the record was created to pay another requested record. */
  readonly asked: (row: A) => { readonly [key: string]: unknown } | null
  /** Returns a record's final state, for comparison. */
  readonly ending: (row: A) => string
  /**
   * Checks all of a company's records of this type against the company's other records: `fits` at any moment,
   * `ended` when nothing is in flight.
   */
  readonly fits?: (rows: ReadonlyArray<A>, company: Moved) => void
  readonly ended?: (rows: ReadonlyArray<A>, company: Moved) => void
}

export type Standing = Row & {
  readonly status: string
  readonly createdAtMillis: number
  readonly updatedAtMillis: number
}

export interface Record extends Checks<Standing> {
  readonly noun: Noun<Standing>
}

export const record = <A extends Standing>(noun: Noun<A>, checks: Checks<A>): Record =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the checked record was read as this noun's
  ({ noun, ...checks }) as unknown as Record

/** Receives each committed Change, with the customer request for which it was made. */
export type Listener = (change: Change, asking: number | null) => void

/** Follows a company's request: returns a function that checks its response. */
export type Follow = (ask: Ask, companyId: string | undefined) => (answer: Answer | undefined) => void

/** Returns the idempotency key of a customer request. */
export type KeyOf = (asking: number) => string | undefined

/** A refused request, identified by `asking`. */
export interface Refused {
  readonly path: string
  readonly asking: number
  readonly body: unknown
}

/** Returns whether a refused request may have applied a Change of this kind. */
export type Excuses = (hear: (listener: Listener) => void) => (tag: string, refused: Refused) => boolean

/** Checks that span a whole scenario. */
export interface Watching {
  /** Checks what happened since the last call. */
  readonly look: () => void
  /** Ends all disturbances when the scenario ends. */
  readonly recover: () => Promise<void>
  /** Checks everything once nothing is in flight. `feed` is the company's event list, oldest first. */
  readonly close: (companyId: CompanyId, feed: ReadonlyArray<unknown>) => Promise<void>
}

export interface Feature {
  /** Makes its operations, as in `Story.ts`. */
  readonly acts?: (...given: never) => object
  /** Starts its checks that span a scenario, as in `Story.ts`. */
  readonly watch?: (...given: never) => Watching
  readonly changes: { readonly [tag: string]: How }
  readonly stories?: Stories
  /** Adds operations to a share of the scenarios. */
  readonly inject?: Inject
  readonly records?: ReadonlyArray<Record>
  /** Transitions of withdrawals in addition to those of the money path. */
  readonly withdrawalMoves?: { readonly [from: string]: ReadonlyArray<string> }
  /** Checks a withdrawal. It can be called at any moment. */
  readonly withdrawal?: (row: Withdrawal) => void
  /** Checks a deposit or withdrawal together with the other records. Both checks can be called at any moment. */
  readonly paid?: (
    records: AllReads,
    coverage: Coverage
  ) => {
    readonly deposit: (row: Deposit) => Effect.Effect<void, StoreUnavailable>
    readonly withdrawal: (
      row: Withdrawal,
      lightning: Lightning.State
    ) => Effect.Effect<void, StoreUnavailable>
  }
  /** Starts the check of a company's books, which the scenario's audits call for each company. It may write. */
  readonly books?: (
    world: World
  ) => (companyId: CompanyId) => Effect.Effect<void, Conflict | StoreUnavailable>
  /** Creates the check of all requests and responses of a scenario. */
  readonly follow?: () => Follow
  /** Checks the Changes in the order in which they were applied. */
  readonly listener?: (keyOf: KeyOf) => Listener
  /** Checks a Change on its own. */
  readonly change?: (change: Change) => void
  readonly excuses?: Excuses
  /** Frequent calls to the feature's read port. They change nothing. */
  readonly reading?: ReadonlyArray<string>
  /** The same for calls that a worker makes in every turn, whatever is in progress. */
  readonly polling?: ReadonlyArray<string>
  /** Faults that scenarios cause in this feature. */
  readonly faults?: ReadonlyArray<string>
  /** Transitions that scenarios produce, for example `voucher: open to claimed`. */
  readonly transitions?: ReadonlyArray<string>
  readonly limits?: {
    /** Changes that count against limits, and Changes that return the amount. */
    readonly counts: ReadonlyArray<string>
    readonly returns: ReadonlyArray<string>
    /**
     * For each kind of Change, returns the record for which the Change holds money, if that is not the Change's
     * own record.
     */
    readonly holders?: { readonly [tag: string]: (change: Written.Any) => string | undefined }
    /** If a Change moves a counted amount to another id, returns the new and the earlier id. */
    readonly became?: (change: Written.Any) => readonly [id: string, was: string] | undefined
  }
}

/** Returns the amount that a Change holds. */
export const heldBy = ({ legs }: Change): bigint => {
  let held = 0n
  for (const { postings } of legs) for (const { to, amount } of postings) if (to === "held") held += amount
  return held
}

/** Declares a feature's checks. Every Change of the feature that may move money must be listed in `changes`. */
export const make =
  <const F extends OfCore>(_: F) =>
  <const S extends Feature & { readonly changes: { readonly [tag in Moving<ChangeOf<F>>]: How } }>(
    story: S
  ): S =>
    story

/** Adds operations to a scenario. */
export type Inject = (operations: ReadonlyArray<Operation>, random: Random) => ReadonlyArray<Operation>

/** A feature's scenarios. */
export interface Stories {
  /** Lists this feature's recipes before those of later features, so that known seeds keep their scenarios. */
  readonly isEarly?: true
  /** Dangerous combinations of operations. A recipe listed twice is twice as likely. */
  readonly recipes: ReadonlyArray<(random: Random) => ReadonlyArray<Act>>
  /** Short scenarios in which each call is exposed to a fault once. */
  readonly crashes: { readonly [name: string]: Crash }
}
