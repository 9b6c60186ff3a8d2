import type { TxId } from "@satrail/bitcoin/TxId"
import type { Feature } from "../../ledger/Feature.ts"
import type * as Waiting from "../../ledger/Waiting.ts"
import { confirmations, type Placement, type Tip } from "../../nodes/ChainSource.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import * as Destination from "../../sending/Destination.ts"
import type { LookupResult } from "../../sending/NodePayments.ts"
import * as LostWithdrawal from "../../sending/LostWithdrawal.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import type { Posted } from "../Booking.ts"

// Describes waiting records to the operator: their progress, and the reason for the wait.

/** Describes the reason for a record's wait, and the time of its next check. */
export interface WaitReason {
  readonly kind: Waiting.Kind
  readonly for: string
  /** Number of attempts; null if the service only watches the chain. */
  readonly attempts: number | null
  readonly nextMillis: number | null
}

export interface BacklogItem extends Waiting.Item {
  readonly waits: WaitReason
}

/**
 * An event in a record's history. `detail` depends on `what`: it is the payee, the deciding key, the payment
 * hash, invoice or transaction, or the reason for a failure.
 */
export interface TimelineEntry {
  readonly atMillis: number
  readonly what:
    | "requested"
    | "approved"
    | "rejected"
    | "expired"
    | "dispatched"
    | "seen"
    | "settled"
    | "failed"
  readonly detail: string | null
}

export const withdrawalKinds = [
  "withdrawal_unapproved",
  "withdrawal_requested",
  "withdrawal_dispatched",
  "withdrawal_lost",
  "payout_without_coins",
  "payout_without_block"
] as const satisfies ReadonlyArray<Waiting.Kind>

export const depositKinds = [
  "deposit_without_block",
  "deposit_unconfirmed"
] as const satisfies ReadonlyArray<Waiting.Kind>

/** Returns the reason why a withdrawal is waiting; undefined if it is final. */
export const withdrawalKind = (
  row: Withdrawal.Withdrawal,
  job: Waiting.Job | null
): Waiting.Kind | undefined => {
  const { status, rail, dispatchedAtMillis } = row
  if (status !== "pending") return undefined
  if (Withdrawal.isWaiting(row)) return "withdrawal_unapproved"
  if (rail === "lightning") {
    if (dispatchedAtMillis === null) return "withdrawal_requested"
    return LostWithdrawal.isLost(job) ? "withdrawal_lost" : "withdrawal_dispatched"
  }
  return dispatchedAtMillis === null ? "payout_without_coins" : "payout_without_block"
}

/** Returns the reason why a deposit is waiting; undefined if it is final. */
export const depositKind = ({ status, rail, height }: Deposit): Waiting.Kind | undefined => {
  if (status !== "pending" || rail !== "on_chain") return undefined
  return height === null ? "deposit_without_block" : "deposit_unconfirmed"
}

/** Describes a lost withdrawal. */
export const lost =
  "An operator. The node has lost this payment (it was restored or replaced) or this payment's result (no channel holds it any longer). The payee may have been paid. See docs/guides/lnd.md, After a restore and Lost results"

const unclaimed = "A worker to process it. Check that a process is running and can reach the database"

const ofJob = (job: Waiting.Job | null, tried: string): string => {
  if (job === null) return "Nothing, because its job is missing, which is a bug. Run `satrail verify`"
  return job.attempts === 0 ? unclaimed : tried
}

const ofRequest = (job: Waiting.Job | null, host: string | null): string => {
  const asked = job?.kind === Withdrawal.recipientKind ? job.lane : host
  const isTried = job !== null && (job.kind === Withdrawal.recipientKind || job.attempts > 0)
  return isTried && asked !== null
    ? `The server at ${asked}, which must issue an invoice. Nothing was sent. The withdrawal fails if the server stays unavailable`
    : ofJob(job, "The next attempt. Nothing was sent. The log has the reason at this id")
}

const sentence = (
  kind: Waiting.Kind,
  job: Waiting.Job | null,
  nowMillis: number,
  host: string | null,
  features: ReadonlyArray<Feature>
): string => {
  switch (kind) {
    case "withdrawal_unapproved":
      return "Another key of the company with the scope `approve`. Nothing was sent. It fails if no key approves it in time"
    case "withdrawal_requested":
      return ofRequest(job, host)
    case "withdrawal_dispatched":
      return ofJob(
        job,
        "The node's final result. Until it arrives, the payment is neither settled nor failed, and the money stays held"
      )
    case "withdrawal_lost":
      return lost
    case "payout_without_coins":
      return job !== null && job.attempts === 0 && job.dueAtMillis > nowMillis
        ? "The end of its batching interval. Payouts of one interval share a transaction"
        : ofJob(
            job,
            "Coins in the hot wallet, or an available chain and signer. Nothing was sent. The log has the reason at this id"
          )
    case "payout_without_block":
      return ofJob(job, "A block with its transaction, and the confirmations that settle it")
    case "deposit_without_block":
      return "A block with its transaction"
    case "deposit_unconfirmed":
      return "The confirmations required for its amount"
    default:
      return (
        features
          .flatMap(({ holds = [] }) => holds)
          .find(({ waits }) => waits.kind === kind && (job === null || waits.task === job.kind))?.waits.for ??
        "Unknown: another version recorded it"
      )
    case "task_overdue":
      return `A process that handles jobs of kind ${job?.kind ?? "unknown"}. None has claimed this one`
  }
}

/**
 * Returns the reason why a record is waiting at `nowMillis`. `host` is the payee's server that must respond
 * first, if known.
 */
export const of = (
  { kind, job }: Pick<Waiting.Item, "kind" | "job">,
  nowMillis: number,
  features: ReadonlyArray<Feature>,
  host: string | null = null
): WaitReason => ({
  kind,
  for: sentence(kind, job, nowMillis, host, features),
  attempts: job?.attempts ?? null,
  nextMillis: job?.dueAtMillis ?? null
})

/** Returns the payee's server that must respond first; null if there is none. */
export const hostOf = ({ recipient, recipientType }: Withdrawal.Withdrawal): string | null =>
  Destination.domain(recipientType, recipient)

const ended = (
  { status }: Withdrawal.Withdrawal | Deposit,
  atMillis: number,
  detail: string | null
): ReadonlyArray<TimelineEntry> => (status === "pending" ? [] : [{ atMillis, what: status, detail }])

/** Returns a withdrawal's history, oldest first. */
export const ofWithdrawal = (row: Withdrawal.Withdrawal): ReadonlyArray<TimelineEntry> => [
  { atMillis: row.createdAtMillis, what: "requested", detail: row.recipient },
  ...(row.approval === null || row.approval === "waiting" || row.approvalAtMillis === null
    ? []
    : [{ atMillis: row.approvalAtMillis, what: row.approval, detail: row.approvalBy }]),
  ...(row.dispatchedAtMillis === null
    ? []
    : [
        {
          atMillis: row.dispatchedAtMillis,
          what: "dispatched" as const,
          detail: row.paymentHash ?? row.chainTxId ?? row.paymentRequest
        }
      ]),
  ...ended(row, row.updatedAtMillis, row.failure)
]

/**
 * Returns a deposit's history, oldest first. `posted` are the postings of its transfer, oldest first: a refund updates
 * the deposit too, so only they tell when it was credited.
 */
export const ofDeposit = (row: Deposit, posted: ReadonlyArray<Posted>): ReadonlyArray<TimelineEntry> => {
  const credit = row.status === "settled" ? posted.at(-1) : undefined
  return [
    { atMillis: row.createdAtMillis, what: "seen", detail: row.chainTxId },
    ...ended(row, credit?.atMillis ?? row.updatedAtMillis, null)
  ]
}

/** Describes the state of a payment as reported by the node. */
export const paid = (payment: LookupResult): string => {
  switch (payment._tag) {
    case "settled":
      return "settled"
    case "failed":
      return `failed: ${payment.reason}`
    case "pending":
      return "on its way"
    case "unknown":
      return "no response"
    case "notFound":
      return "no record of this payment"
  }
}

/**
 * Describes the state of a payment as reported by the chain. A payout that was replaced has several transactions,
 * oldest first, and each of them may be the one that is mined.
 */
export const placed = (
  tip: Tip,
  found: ReadonlyArray<{ readonly txId: TxId; readonly placement: Placement }>
): string => {
  const newest = found.at(-1)
  const one =
    found.find(({ placement }) => placement._tag === "mined") ??
    found.find(({ placement }) => placement._tag === "mempool")
  if (one === undefined)
    return "unknown to the chain: never seen, or its coins were spent by another transaction"
  const { txId, placement } = one
  const where =
    placement._tag === "mined"
      ? `in block ${placement.height}, with ${confirmations(tip, placement.height)} confirmations`
      : "not in a block yet"
  return one === newest ? where : `${where}: transaction ${txId}, which was sent earlier`
}
