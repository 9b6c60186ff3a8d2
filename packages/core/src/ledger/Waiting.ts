import type { Msat } from "@satrail/bitcoin/Msat"
import type * as CompanyId from "../base/CompanyId.ts"

const own = [
  "withdrawal_unapproved",
  "withdrawal_requested",
  "withdrawal_dispatched",
  "withdrawal_lost",
  "payout_without_coins",
  "payout_without_block",
  "deposit_without_block",
  "deposit_unconfirmed"
] as const
const others = ["record_open", "task_overdue"] as const

interface Holds {
  readonly waits: { readonly kind: string }
}

/**
 * A reason why money or work is pending. A withdrawal waits for approval, for a worker, or for the payee, or for
 * an operator if the node has lost its payment. A payout waits for coins or a block. A deposit waits for a block
 * or for confirmations. A feature's record that holds money waits for what the feature declares (`Feature.Holds`).
 * A job is overdue when it is due and no worker has claimed it. The type names the published reasons itself, because
 * the services that read it are part of the types of the features.
 */
export type Kind = (typeof own)[number] | "voucher_open" | (typeof others)[number]

/** Returns all reasons in a service with these features, in the order in which they are published. */
export const kinds = (
  features: ReadonlyArray<{ readonly holds?: ReadonlyArray<Holds> }>
): ReadonlyArray<Kind> => {
  const ofFeatures = features.flatMap(({ holds = [] }) => holds.map(({ waits }) => waits.kind))
  // oxlint-disable-next-line typescript/consistent-type-assertions -- every feature is in a registered list
  return [...new Set<string>([...own, ...ofFeatures, ...others])] as never
}

export const byKind = <A>(
  kinds: ReadonlyArray<Kind>,
  of: (kind: Kind) => A
): { readonly [kind in Kind]: A } =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not infer members from a list of entries
  Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as never

/** Totals of the items of one kind. `amount` includes fees, and is zero for tasks. */
export interface Waiting {
  readonly count: number
  /**
   * Time at which the oldest item began to wait; for a task, the time at which it was due. null if there are no
   * items.
   */
  readonly oldestAtMillis: number | null
  readonly amount: Msat
}

export type All = { readonly [kind in Kind]: Waiting }

/**
 * The pending work for an item: see `Task`. `dueAtMillis` is when it is next due, or when the current claim
 * ends.
 */
export interface Job {
  readonly kind: string
  readonly lane: string
  readonly dueAtMillis: number
  readonly attempts: number
}

/** A job with the fencing token of its newest claim, or 0 if there was none. */
export interface Claimed extends Job {
  readonly token: number
}

/** A pending item, and the time at which it began to wait; for a task, the time at which it was due. */
export interface Item {
  readonly kind: Kind
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly sinceMillis: number
  readonly amount: Msat
  /**
   * null if the item only waits for the chain. For a payout in a batch, the job of the payout that leads the
   * batch.
   */
  readonly job: Job | null
}

/** A position in the list. A page starts after it. */
export type Place = Pick<Item, "sinceMillis" | "id">

/** Selects pending items: the oldest `limit` of these kinds together, with at most `perKind` of each kind. */
export interface Query {
  readonly kinds: ReadonlyArray<Kind>
  readonly overdueBeforeMillis: number
  readonly sinceBeforeMillis: number
  readonly after: Place | null
  readonly perKind: number
  readonly limit: number
}
