import type { Msat } from "@satrail/bitcoin/Msat"
import type * as CompanyId from "../base/CompanyId.ts"
import type * as Event from "./Event.ts"
import type { Count } from "./Limit.ts"
import type { Members } from "./Noun.ts"

/**
 * `available` and `held` belong to the company, the rest to the operator: `node` and `chain` are assets, `service_fees` is revenue,
 * `network_fees` takes the allowance in and pays the actual cost out, `suspense` is received but matched to nothing, `loss` is lost,
 * `adjustments` is what operators booked by hand, and `internal` is what one company sends another: zero after every Change.
 */
export type Account =
  | "available"
  | "held"
  | "node"
  | "chain"
  | "service_fees"
  | "network_fees"
  | "suspense"
  | "loss"
  | "adjustments"
  | "internal"

/** Moves `amount` from one account to another: with both sides in one value no Change can be out of balance. */
export interface Posting {
  readonly from: Account
  readonly to: Account
  readonly amount: Msat
}

/** What a Change books for one company. An internal transfer has two legs, everything else one or none. */
export interface Leg {
  readonly companyId: CompanyId.CompanyId
  readonly postings: ReadonlyArray<Posting>
}

/** Makes a repeated request one request: the same key of the same owner gets `answer` again, as long as its fingerprint is the same. */
export interface Once {
  readonly owner: CompanyId.CompanyId
  readonly key: string
  readonly fingerprint: string
  readonly answer: string
  /** From here on the key may be used for something else. null: never. */
  readonly forgetAtMillis: number | null
}

/** Work that is to be done from `dueAtMillis` on. */
export interface Work {
  /** Who does it: workers claim the tasks of their own kind. */
  readonly kind: string
  /** What it is about: one task for an id, of whatever kind. A second kind of work for the same thing takes an id derived from it. */
  readonly id: string
  readonly dueAtMillis: number
  /** The process that enqueues it has claimed it (`Tasks.claimedFromStart`): nobody else is handed it before `dueAtMillis`, unless that process dies. */
  readonly claimedBy?: string
}

/** A job exists from here on. One that is there already stays as it is. */
export interface Enqueue extends Work {
  readonly _tag: "Enqueue"
}

/** A job is done, whatever process holds it: only a fence checks its holder. */
export interface Complete {
  readonly _tag: "Complete"
  readonly id: string
}

/** What a Change does to jobs. It may do one thing to any number of them. */
export type Job = Enqueue | Complete

export const enqueue = ({ kind, id, dueAtMillis, claimedBy }: Work): Enqueue => ({
  _tag: "Enqueue",
  kind,
  id,
  dueAtMillis,
  ...(claimedBy !== undefined && { claimedBy })
})

export const complete = (id: string): Complete => ({ _tag: "Complete", id })

/** The claim on the task that this Change is the work of. A Change with a stale one is refused. The task stays, unless the Change completes it. */
export interface Fence {
  readonly taskId: string
  readonly token: number
}

/** How far a source was read once this Change is applied: moves in the same transaction as the credit. */
export interface Cursor {
  readonly source: string
  readonly value: string
}

/** How far a source was read, and by whom: what an earlier holder of the role read is refused. */
export interface Reading {
  readonly cursor: Cursor
  readonly fence?: Fence | undefined
}

declare const refused: unique symbol

/** Some Change, of whichever kind. */
export type Any = Parts<string, unknown, string>

/** How the rules may say no to a Change: its kind says so. */
export type RefusalOf<C extends Any> = Exclude<C[typeof refused], undefined>

/** A record before and after a Change, as far as it is known; `before` is null where it is created. */
export interface Recorded {
  readonly noun: Members
  readonly id: string
  readonly before: object | null
  readonly after: object
  /** The members that the Change sets, whatever they were; absent: those that it changes. */
  readonly sets?: ReadonlySet<string>
}

/**
 * What every Change carries, whatever it changes. `id` is the row it is about; `transferId` groups its postings in the ledger
 * and is what a customer sees as `ledger_tx_id`. `Refused` is how the rules may say no to it: in its type only, no value has it.
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
  readonly once?: Once
  readonly jobs?: ReadonlyArray<Job>
  readonly fence?: Fence
  readonly cursor?: Cursor
  /** Against whose limits it is counted, besides the balance, or to whom it gives back what was. It moves money of its own company. */
  readonly counts?: ReadonlyArray<Count>
  /** A freeze of its company refuses it. */
  readonly unlessFrozen?: true
  /** By which of its company's fees its money was counted: where they are others by now, it is refused. */
  readonly feesRevision?: number
  /** The records that it creates or changes and whose values the audit log has, as they were found and as they become; what a Change writes says the same. */
  readonly recorded?: ReadonlyArray<Recorded>
  /** What the audit log says of it: who had it done (see Audit.ts). The Journal adds it, nobody else. */
  readonly audit?: string
}

/** A posting of nothing is no posting: a free withdrawal books no fee. */
export const moving = <P extends Posting>(...postings: ReadonlyArray<P>): ReadonlyArray<P> => postings.filter(({ amount }) => amount > 0n)

/** The optional parts as far as they are given. */
export const optional = (parts: {
  readonly once?: Once | undefined
  readonly fence?: Fence | undefined
  readonly cursor?: Cursor | undefined
}): Partial<Pick<Parts<string>, "once" | "fence" | "cursor">> => ({
  ...(parts.once === undefined ? {} : { once: parts.once }),
  ...(parts.fence === undefined ? {} : { fence: parts.fence }),
  ...(parts.cursor === undefined ? {} : { cursor: parts.cursor })
})
