import { all as features } from "../../features/index.ts"
import type * as Waiting from "../../ledger/Waiting.ts"
import { confirmations, type Placement, type Tip } from "../../nodes/ChainSource.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import * as Destination from "../../sending/Destination.ts"
import type { Looked } from "../../sending/Ways.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"

// What the operator is told about something that waits: how far it is, and what the service waits for.

/** What something waits for, in a sentence, and when it is looked at next. */
export interface Waits {
  readonly kind: Waiting.Kind
  readonly for: string
  /** How often it was taken up; null where nothing is done but look at the chain. */
  readonly attempts: number | null
  readonly nextMillis: number | null
}

/** One that waits, and for what. */
export interface Named extends Waiting.Item {
  readonly waits: Waits
}

/** Something that has happened to a record. `detail` is a payment hash, a transaction, a reason. */
export interface Step {
  readonly atMillis: number
  readonly what: "requested" | "approved" | "rejected" | "expired" | "dispatched" | "seen" | "settled" | "failed"
  readonly detail: string | null
}

export const withdrawalKinds = [
  "withdrawal_unapproved",
  "withdrawal_requested",
  "withdrawal_dispatched",
  "payout_without_coins",
  "payout_without_block"
] as const satisfies ReadonlyArray<Waiting.Kind>

export const depositKinds = ["deposit_without_block", "deposit_unconfirmed"] as const satisfies ReadonlyArray<Waiting.Kind>

/** What a withdrawal waits for; undefined where it has ended. */
export const stepOf = (row: Withdrawal.Withdrawal): Waiting.Kind | undefined => {
  const { status, rail, dispatchedAtMillis } = row
  if (status !== "pending") return undefined
  if (Withdrawal.standing(row) === "pending_approval") return "withdrawal_unapproved"
  if (rail === "lightning") return dispatchedAtMillis === null ? "withdrawal_requested" : "withdrawal_dispatched"
  return dispatchedAtMillis === null ? "payout_without_coins" : "payout_without_block"
}

/** The same of a deposit. */
export const placeOf = ({ status, rail, height }: Deposit): Waiting.Kind | undefined => {
  if (status !== "pending" || rail !== "on_chain") return undefined
  return height === null ? "deposit_without_block" : "deposit_unconfirmed"
}

const unclaimed = "A worker that takes it up: is a process running, and can it reach the database?"

const ofJob = (job: Waiting.Job | null, tried: string): string => {
  if (job === null) return "Nothing: it has no job, which must not be. Run `satrail verify`"
  return job.attempts === 0 ? unclaimed : tried
}

const ofRequest = (job: Waiting.Job | null, host: string | null): string => {
  const asked = job?.kind === Withdrawal.recipientKind ? job.lane : host
  const isTried = job !== null && (job.kind === Withdrawal.recipientKind || job.attempts > 0)
  return isTried && asked !== null
    ? `The server at ${asked}, which has to issue an invoice. Nothing was sent. Where it stays away, the withdrawal fails by itself`
    : ofJob(job, "The next attempt: nothing was sent. The log has the reason, at `withdrawal: step failed`")
}

const ofFeatures = new Map(features.flatMap(({ holds = [] }) => holds.map(({ waits }) => [waits.kind, waits.for] as const)))

const sentence = (kind: Waiting.Kind, job: Waiting.Job | null, nowMillis: number, host: string | null): string => {
  switch (kind) {
    case "withdrawal_unapproved":
      return "Another key of the company with the scope `approve`. Nothing was sent. Where none approves it in time, it fails by itself"
    case "withdrawal_requested":
      return ofRequest(job, host)
    case "withdrawal_dispatched":
      return ofJob(job, "The node's final result. Until then it is neither settled nor failed, and the money stays held")
    case "payout_without_coins":
      return job !== null && job.attempts === 0 && job.dueAtMillis > nowMillis
        ? "The end of its batching interval: payouts of one interval share a transaction"
        : ofJob(job, "Coins in the hot wallet, or a chain and a signer that answer. Nothing was sent. The log has the reason, at `payout:`")
    case "payout_without_block":
      return ofJob(job, "A block with its transaction, and the confirmations that settle it")
    case "deposit_without_block":
      return "A block with its transaction"
    case "deposit_unconfirmed":
      return "The confirmations that its amount needs"
    default:
      return ofFeatures.get(kind) ?? "What nobody here knows of"
    case "task_overdue":
      return `A process that does work of the kind ${job?.kind ?? "of this job"}: none has taken it up`
  }
}

/** What one waits for, at `nowMillis`. `host` is the server that has to say whom a withdrawal pays, where it is known that there is one. */
export const of = ({ kind, job }: Pick<Waiting.Item, "kind" | "job">, nowMillis: number, host: string | null = null): Waits => ({
  kind,
  for: sentence(kind, job, nowMillis, host),
  attempts: job?.attempts ?? null,
  nextMillis: job?.dueAtMillis ?? null
})

/** The server that has to say whom a withdrawal pays; null where there is none. */
export const hostOf = ({ recipient, recipientType }: Withdrawal.Withdrawal): string | null => Destination.domain(recipientType, recipient)

const ended = ({ status, updatedAtMillis }: Withdrawal.Withdrawal | Deposit, detail: string | null): ReadonlyArray<Step> =>
  status === "pending" ? [] : [{ atMillis: updatedAtMillis, what: status, detail }]

/** What has happened to a withdrawal, the oldest first. */
export const ofWithdrawal = (row: Withdrawal.Withdrawal): ReadonlyArray<Step> => [
  { atMillis: row.createdAtMillis, what: "requested", detail: row.recipient },
  ...(row.approval === null || row.approval === "waiting" || row.approvalAtMillis === null
    ? []
    : [{ atMillis: row.approvalAtMillis, what: row.approval, detail: row.approvalBy }]),
  ...(row.dispatchedAtMillis === null
    ? []
    : [{ atMillis: row.dispatchedAtMillis, what: "dispatched" as const, detail: row.paymentHash ?? row.chainTxId ?? row.paymentRequest }]),
  ...ended(row, row.failure)
]

/** What has happened to a deposit, the oldest first. */
export const ofDeposit = (row: Deposit): ReadonlyArray<Step> => [
  { atMillis: row.createdAtMillis, what: "seen", detail: row.chainTxId },
  ...ended(row, null)
]

/** How a node says that a payment stands. */
export const paid = (payment: Looked): string => {
  switch (payment._tag) {
    case "settled":
      return "settled"
    case "failed":
      return `failed: ${payment.reason}`
    case "pending":
      return "on its way"
    case "unknown":
      return "no answer"
    case "notFound":
      return "it has no record of this payment"
  }
}

/** How the chain says that a transaction stands. */
export const placed = (tip: Tip, placement: Placement): string => {
  switch (placement._tag) {
    case "mined":
      return `in block ${placement.height}, with ${confirmations(tip, placement.height)} confirmations`
    case "mempool":
      return "in no block yet"
    case "gone":
      return "unknown to the chain: never seen, or its coins were spent by another transaction"
  }
}
