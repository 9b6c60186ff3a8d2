import type * as Msat from "@satrail/bitcoin/Msat"
import type { ChangeOf, Feature as OfCore } from "@satrail/core/ledger/Feature"
import type { Noun, Row } from "@satrail/core/ledger/Noun"
import type * as Written from "@satrail/core/ledger/Written"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { Change } from "@satrail/core/service/Changes"
import type { AllReads } from "@satrail/core/service/Records"
import type * as Lightning from "@satrail/sandbox/Lightning"
import type { Random } from "@satrail/testing/Random"
import type { Effect } from "effect"
import type { Act, Operation } from "../plot/Operation.ts"
import type { Crash } from "../plot/Scenes.ts"
import type { Coverage } from "../world/Coverage.ts"

/** Whether stories produce a kind of Change, or why they can't. */
export type How = "happens" | { readonly never: string }

/** The kinds that may move money: all except those whose type has no postings. */
export type Moving<C extends { readonly _tag: string }> = C extends { readonly legs: ReadonlyArray<never> } ? never : C["_tag"]

/** A company's deposits and withdrawals. */
export interface Moved {
  readonly deposits: ReadonlyArray<Deposit>
  readonly withdrawals: ReadonlyArray<Withdrawal>
}

/**
 * A record with a status, and the checks that hold for it in every story. Stated independently of its
 * declaration.
 */
interface Checks<A> {
  readonly kind: string
  /** Allowed transitions. A status without an entry is final. */
  readonly moves: { readonly [from: string]: ReadonlyArray<string> }
  /** Statuses in which it may end although another may follow. */
  readonly rests?: ReadonlyArray<string>
  /** The last notification about a record that has ended. */
  readonly told: { readonly [status: string]: RegExp }
  /** The amount it currently holds of its company's money. */
  readonly held: (row: A) => Msat.Msat
  /** The withdrawal it became. The request belongs to this record, not to that withdrawal. */
  readonly became: (row: A) => string | null
  /** The metadata of its request; null if it pays something that another record was requested for. */
  readonly asked: (row: A) => { readonly [key: string]: unknown } | null
  /** Its final state, for comparison. */
  readonly ending: (row: A) => string
  /**
   * Checks all of them against their company's other records: at any moment, and when nothing is in flight.
   */
  readonly fits?: (rows: ReadonlyArray<A>, company: Moved) => void
  readonly ended?: (rows: ReadonlyArray<A>, company: Moved) => void
}

type Standing = Row & { readonly status: string; readonly updatedAtMillis: number }

export interface Record extends Checks<Standing> {
  readonly noun: Noun<Standing>
}

export const record = <A extends Standing>(noun: Noun<A>, checks: Checks<A>): Record =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the checked record was read as this noun's
  ({ noun, ...checks }) as unknown as Record

/** Receives each committed Change with the customer request it was made for. */
export type Listener = (change: Change, asking: number | null) => void

/** Returns the idempotency key of a customer request. */
export type KeyOf = (asking: number) => string | undefined

/** A refused request. `asking` identifies it. */
export interface Refused {
  readonly path: string
  readonly asking: number
  readonly body: unknown
}

/** Returns whether a refused request may have applied a Change of this kind. */
export type Excuses = (hear: (listener: Listener) => void) => (tag: string, refused: Refused) => boolean

export interface Feature {
  readonly changes: { readonly [tag: string]: How }
  readonly stories?: Stories
  /** Operations woven into a share of the stories. */
  readonly weave?: Weave
  readonly records?: ReadonlyArray<Record>
  /** Checks every withdrawal at any moment. */
  readonly withdrawal?: (row: Withdrawal) => void
  /** Checks every deposit and withdrawal at any moment, together with the other records. */
  readonly paid?: (
    records: AllReads,
    coverage: Coverage
  ) => {
    readonly deposit: (row: Deposit) => Effect.Effect<void, StoreUnavailable>
    readonly withdrawal: (row: Withdrawal, lightning: Lightning.State) => Effect.Effect<void, StoreUnavailable>
  }
  /** Checks the Changes in the order in which they were applied. */
  readonly listener?: (keyOf: KeyOf) => Listener
  /** Checks a Change alone. */
  readonly change?: (change: Change) => void
  readonly excuses?: Excuses
  /** Frequent calls of its read port, which change nothing. */
  readonly reading?: ReadonlyArray<string>
  /** Faults that stories cause in this feature. */
  readonly faults?: ReadonlyArray<string>
  /** Transitions that stories produce, for example `voucher: open to claimed`. */
  readonly transitions?: ReadonlyArray<string>
  readonly limits?: {
    /** Changes that count against limits, and Changes that return the amount. */
    readonly counts: ReadonlyArray<string>
    readonly returns: ReadonlyArray<string>
    /** By kind, the record that a Change holds money for, if it isn't the record the Change is about. */
    readonly holders?: { readonly [tag: string]: (change: Written.Any) => string | undefined }
    /** A Change after which the amount is counted under another id. */
    readonly became?: (change: Written.Any) => readonly [id: string, was: string] | undefined
  }
}

/** Returns the amount a Change holds. */
export const heldBy = ({ legs }: Change): bigint => {
  let held = 0n
  for (const { postings } of legs) for (const { to, amount } of postings) if (to === "held") held += amount
  return held
}

/** Declares a feature's checks. Every Change of it that may move money must be listed in `changes`. */
export const make =
  <const F extends OfCore>(_: F) =>
  <const S extends Feature & { readonly changes: { readonly [tag in Moving<ChangeOf<F>>]: How } }>(story: S): S =>
    story

/** Adds operations to a story. */
export type Weave = (operations: ReadonlyArray<Operation>, random: Random) => ReadonlyArray<Operation>

/** Stories of a feature. */
export interface Stories {
  /** Its recipes are listed before those of the money path, so that known seeds keep their stories. */
  readonly isEarly?: true
  /** Dangerous combinations of operations. Naming one twice makes it twice as likely. */
  readonly recipes: ReadonlyArray<(random: Random) => ReadonlyArray<Act>>
  /** Short stories in which each call goes wrong once. */
  readonly crashes: { readonly [name: string]: Crash }
}
