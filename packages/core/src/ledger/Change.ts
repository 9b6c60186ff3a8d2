import type { Msat } from "@satrail/bitcoin/Msat"
import type * as CompanyId from "../base/CompanyId.ts"
import type * as Event from "./Event.ts"
import type { Count } from "./Limit.ts"
import type { Insert, Members } from "./Noun.ts"

/**
 * `available` and `held` belong to the company, the others to the operator. `node` and `chain` are assets.
 * `service_fees` is revenue. `network_fees` receives fee allowances and pays actual costs. `suspense` is money
 * received without a known owner. `loss` is lost money. `adjustments` are manual postings by operators.
 * `internal` is payments between companies, and `transfers` is what features' records move between them
 * (`Posts`). Both are zero after every Change.
 */
export const accounts = [
  "available",
  "held",
  "node",
  "chain",
  "service_fees",
  "network_fees",
  "suspense",
  "loss",
  "adjustments",
  "internal",
  "transfers"
] as const
export type Account = (typeof accounts)[number]

/**
 * Moves `amount` from one account to another. One value contains both sides, so no Change can be unbalanced.
 */
export interface Posting {
  readonly from: Account
  readonly to: Account
  readonly amount: Msat
}

/**
 * The postings of a Change for one company. A Change that moves money between companies has a leg for each; other
 * Changes have one or none.
 */
export interface Leg {
  readonly companyId: CompanyId.CompanyId
  readonly postings: ReadonlyArray<Posting>
}

/** Makes a request idempotent: the same owner and key return `answer` again if the fingerprint or the meaning matches. */
export interface Once {
  readonly owner: CompanyId.CompanyId
  readonly key: string
  readonly fingerprint: string
  readonly meaning?: string
  readonly answer: string
  /** Time from which the key can be reused for another request; null if never. */
  readonly forgetAtMillis: number | null
}

/** Work that is due from `dueAtMillis` on. */
export interface Work {
  /** Selects the worker. Each worker claims tasks of one kind. */
  readonly kind: string
  /**
   * The subject of the work. An id has only one task, regardless of kind. A second kind of work for the same
   * subject uses an id derived from it.
   */
  readonly id: string
  readonly dueAtMillis: number
  /**
   * The process that enqueues the work and has claimed it (`Tasks.claimedFromStart`). No other process can
   * claim it before `dueAtMillis` unless that process dies.
   */
  readonly claimedBy?: string
}

/** Creates a job. A job that already exists is unchanged. */
export interface Enqueue extends Work {
  readonly _tag: "Enqueue"
}

/** Completes a job, whichever process holds it. Only a fence checks the holder. */
export interface Complete {
  readonly _tag: "Complete"
  readonly id: string
}

/** A Change's effect on jobs. One Change can affect any number of jobs. */
export type Job = Enqueue | Complete

export const enqueue = ({ kind, id, dueAtMillis, claimedBy }: Work): Enqueue => ({
  _tag: "Enqueue",
  kind,
  id,
  dueAtMillis,
  ...(claimedBy !== undefined && { claimedBy })
})

export const complete = (id: string): Complete => ({ _tag: "Complete", id })

/**
 * The claim on the task that led to this Change. A stale claim is refused. The task remains unless the Change
 * completes it.
 */
export interface Fence {
  readonly taskId: string
  readonly token: number
}

/** Position up to which a source has been read. It moves in the same transaction as the credit. */
export interface Cursor {
  readonly source: string
  readonly value: string
}

/**
 * Position of a source, and the process that read it. Positions from an earlier holder of the role are
 * refused.
 */
export interface Reading {
  readonly cursor: Cursor
  readonly fence?: Fence | undefined
}

declare const refused: unique symbol

/** A Change of any kind. */
export type Any = Parts<string, unknown, string>

/** The refusals of a Change, as its kind declares them. */
export type RefusalOf<C extends Any> = Exclude<C[typeof refused], undefined>

/** A record before and after a Change, as far as known. `before` is null if the Change creates it. */
export interface Recorded {
  readonly noun: Members
  readonly id: string
  readonly before: object | null
  readonly after: object
  /** Fields that the Change sets, even to the same value. If absent: the fields that differ. */
  readonly sets?: ReadonlySet<string>
}

/**
 * Fields of every Change. `id` identifies the record that it changes. `transferId` groups its postings in the
 * ledger, and customers see it as `ledger_tx_id`. `Refused` lists its refusals in the type only; no value
 * contains it.
 */
export interface Parts<Tag extends string, Refused = never, Published extends string = Event.Type> {
  readonly [refused]?: Refused
  readonly _tag: Tag
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
  readonly transferId?: string
  readonly legs: ReadonlyArray<Leg>
  readonly event?: Event.Of<Published>
  /** Events for other companies that the Change affects, at most `Event.maxForOthers`. */
  readonly eventsForOthers?: ReadonlyArray<Event.ForOther<Published>>
  /**
   * Records that a hook adds to the Change, of types without labels. They cannot exist yet. If the Change has `writes`,
   * these come after them.
   */
  readonly inserts?: ReadonlyArray<Insert>
  readonly once?: Once
  readonly jobs?: ReadonlyArray<Job>
  readonly fence?: Fence
  readonly cursor?: Cursor
  /**
   * Limits that the Change counts toward, or from which it subtracts an earlier count. Only postings of its own
   * company count.
   */
  readonly counts?: ReadonlyArray<Count>
  /** Set if the Change is refused while its company is frozen. */
  readonly unlessFrozen?: true
  /**
   * Revision of the company's fees used to calculate its amounts. The Change is refused if the fees have since
   * changed.
   */
  readonly feesRevision?: number
  /**
   * Logged records that the Change creates or changes, before and after. A Change with `writes` needs no entry
   * for the records written there.
   */
  readonly recorded?: ReadonlyArray<Recorded>
  /** The Change's entry in the audit log, including the actor (see Audit.ts). Only the Journal sets it. */
  readonly audit?: string
}

/** Removes postings of zero, such as the fee of a free withdrawal. */
export const moving = <P extends Posting>(...postings: ReadonlyArray<P>): ReadonlyArray<P> =>
  postings.filter(({ amount }) => amount > 0n)

/** Returns what a Change of this record starts with, if it posts nothing. */
export const on = ({ id, companyId }: Pick<Parts<string>, "id" | "companyId">, atMillis: number) =>
  ({ id, companyId, atMillis, legs: [] }) as const
