import type { Msat } from "@satrail/bitcoin/Msat"
import type * as CompanyId from "../base/CompanyId.ts"

/**
 * What money and work can wait for. A withdrawal: to be approved, to be taken up, or for its payee. A payout: for coins, or for a block. A deposit: for a block, or for its
 * confirmations. A voucher: to be claimed. A job is overdue when it is due and no worker has claimed it.
 */
export const kinds = [
  "withdrawal_unapproved",
  "withdrawal_requested",
  "withdrawal_dispatched",
  "payout_without_coins",
  "payout_without_block",
  "deposit_without_block",
  "deposit_unconfirmed",
  "voucher_open",
  "task_overdue"
] as const
export type Kind = (typeof kinds)[number]

/** The same for each of them. */
export const byKind = <A>(of: (kind: Kind) => A): { readonly [kind in Kind]: A } => ({
  withdrawal_unapproved: of("withdrawal_unapproved"),
  withdrawal_requested: of("withdrawal_requested"),
  withdrawal_dispatched: of("withdrawal_dispatched"),
  payout_without_coins: of("payout_without_coins"),
  payout_without_block: of("payout_without_block"),
  deposit_without_block: of("deposit_without_block"),
  deposit_unconfirmed: of("deposit_unconfirmed"),
  voucher_open: of("voucher_open"),
  task_overdue: of("task_overdue")
})

/** All that waits for one thing. `amount` with its fees; of tasks nothing. */
export interface Waiting {
  readonly count: number
  /** When the oldest of them began: a task, when it was due. null where nothing waits. */
  readonly oldestAtMillis: number | null
  readonly amount: Msat
}

export type All = { readonly [kind in Kind]: Waiting }

/** The work that is to be done about something that waits: see `Task`. `dueAtMillis` is when it is looked at next, or when the claim of who looks at it ends. */
export interface Job {
  readonly kind: string
  readonly lane: string
  readonly dueAtMillis: number
  readonly attempts: number
}

/** One that waits, and since when: a task, since it was due. */
export interface Item {
  readonly kind: Kind
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly sinceMillis: number
  readonly amount: Msat
  /** null where nothing is done but look at the chain. Of a payout that another one leads, the other's. */
  readonly job: Job | null
}

/** Where a page starts: right after this one. */
export type Place = Pick<Item, "sinceMillis" | "id">

/** Which of those that wait: the oldest `limit` of these kinds together, and of each kind at most `perKind`. */
export interface Query {
  readonly kinds: ReadonlyArray<Kind>
  readonly overdueBeforeMillis: number
  readonly sinceBeforeMillis: number
  readonly after: Place | null
  readonly perKind: number
  readonly limit: number
}
