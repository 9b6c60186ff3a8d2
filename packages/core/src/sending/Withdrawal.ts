import * as Msat from "@satrail/bitcoin/Msat"
import { Network } from "@satrail/bitcoin/Network"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"
import * as Fee from "../accounts/Fee.ts"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Change from "../ledger/Change.ts"
import type { Conflict, StaleFence } from "../ledger/Journal.ts"
import * as Limit from "../ledger/Limit.ts"
import * as Noun from "../ledger/Noun.ts"
import { Rail, type Standing, Status } from "../ledger/Rail.ts"
import type { Written } from "../ledger/Written.ts"
import type * as Coin from "../nodes/Coin.ts"
import { SuccessAction } from "../nodes/SuccessAction.ts"
import type { Deposit } from "../receiving/Deposit.ts"
import type { InvoiceNotPayable } from "../receiving/Invoice.ts"
import { RecipientType } from "./Destination.ts"
import * as Cause from "./Cause.ts"
import * as Rated from "../base/Rated.ts"

/** Reason why a withdrawal failed. In every case, nothing was paid and nothing will be. */
export const Failure = Schema.Literals([
  "no_route",
  "timeout",
  "incorrect_payment_details",
  "insufficient_liquidity",
  "canceled",
  "node_error",
  "channel_closed",
  "invoice_expired",
  "invoice_not_payable",
  "payment_hash_used",
  "recipient_refused",
  "recipient_unreachable",
  "approval_rejected",
  "approval_expired"
])
export type Failure = typeof Failure.Type

export const ApprovalState = Schema.Literals(["waiting", "approved", "rejected", "expired"])
export type ApprovalState = typeof ApprovalState.Type

/**
 * An outgoing payment, with amounts in msat. `amount` is what the payee receives; fees are added to it.
 * Sending 1000 with fees of 5 and 10 holds 1015.
 */
export const Withdrawal = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  serviceFee: Msat.Msat,
  networkAllowance: Msat.Msat,
  /** The destination as parsed. */
  recipient: Schema.String,
  recipientType: RecipientType,
  rail: Rail,
  network: Network,
  metadata: Metadata.Metadata,
  ...Rated.members,
  ...Cause.members,
  status: Status,
  /**
   * The payment hash, stored as soon as it is chosen, before the node is called. Null for on-chain withdrawals
   * and for offers.
   */
  paymentHash: Schema.NullOr(PaymentHash.PaymentHash),
  /**
   * The invoice or offer being paid. An offer's payment is identified at the node by the withdrawal's id,
   * because the issuer chooses the hash. On-chain, the address that the recipient's name resolved to, or null
   * if the recipient is not a name.
   */
  paymentRequest: Schema.NullOr(Schema.String),
  /**
   * The payment hash that the node reported for a paid offer. It does not identify the withdrawal, because
   * another payment may have the same hash.
   */
  reportedHash: Schema.NullOr(PaymentHash.PaymentHash),
  /** Message from the payee's server to show after the payment (LUD-09). */
  successAction: Schema.NullOr(SuccessAction),
  /** The transaction id, stored once the transaction is signed, before it is broadcast. Null for Lightning. */
  chainTxId: Schema.NullOr(TxId.TxId),
  /**
   * The signed transaction. Null for a follower as well, because an output of its leader's transaction pays it.
   */
  rawTx: Schema.NullOr(Schema.String),
  dispatchedAtMillis: Schema.NullOr(Schema.Int),
  /** Proof of payment, once settled over Lightning. */
  preimage: Schema.NullOr(Preimage.Preimage),
  /** Actual routing or mining fee, once known. In a batch, this withdrawal's share. */
  networkFee: Schema.NullOr(Msat.Msat),
  /** The number that the node assigned to the payment. */
  paymentIndex: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Failure),
  /** The limits that the withdrawal counts against; null once it has failed. */
  counted: Schema.NullOr(Limit.Noted),
  /**
   * State of the approval by another key; null if none was required. While the withdrawal waits for approval,
   * its status is `pending` and it has no job.
   */
  approval: Schema.NullOr(ApprovalState),
  /**
   * The key that requested it, if another key must approve it. After key rotations, the first key in the
   * chain. Null if requested by the host program.
   */
  approvalAskedBy: Schema.NullOr(Schema.String),
  /** The key that approved or rejected it. */
  approvalBy: Schema.NullOr(Schema.String),
  approvalExpiresAtMillis: Schema.NullOr(Schema.Int),
  /** When it was approved or rejected, or expired. */
  approvalAtMillis: Schema.NullOr(Schema.Int),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Withdrawal extends Schema.Schema.Type<typeof Withdrawal> {}

/** The withdrawal already has a different final result, which does not change. */
export class AlreadyTerminal extends Schema.TaggedError<AlreadyTerminal>()("AlreadyTerminal", {
  id: Schema.String,
  status: Schema.String
}) {}

/** A payment hash belongs to one withdrawal permanently. */
export const noun = Noun.make("withdrawals", Withdrawal, {
  moving: [
    "status",
    "paymentHash",
    "paymentRequest",
    "reportedHash",
    "successAction",
    "chainTxId",
    "rawTx",
    "dispatchedAtMillis",
    "preimage",
    "networkFee",
    "paymentIndex",
    "failure",
    "counted",
    "approval",
    "approvalBy",
    "approvalAtMillis",
    "updatedAtMillis"
  ],
  unique: [["paymentHash"]],
  labels: "metadata",
  refused: (id, status) => new AlreadyTerminal({ id, status })
})

/**
 * Another withdrawal is paying, paid or failed to pay this payment hash. A hash belongs to one withdrawal
 * permanently, so a retry needs a new invoice.
 */
export class PaymentHashTaken extends Schema.TaggedError<PaymentHashTaken>()("PaymentHashTaken", {
  paymentHash: PaymentHash.PaymentHash
}) {}

/** Another payout spends one of these coins. */
export class CoinTaken extends Schema.TaggedError<CoinTaken>()("CoinTaken", {
  withdrawalId: Schema.String
}) {}

/**
 * A signed transaction that pays a withdrawal. A replacement is a separate candidate, and either one may
 * confirm.
 */
export interface Candidate {
  readonly txId: TxId.TxId
  readonly rawTx: string
  /** The signed transaction as a PSBT (BIP 174, base64), from which a replacement is made. */
  readonly psbt: string
  readonly networkFee: Msat.Msat
  readonly change: Coin.Change | null
  /** Whether it spends change of an unconfirmed payout. */
  readonly isDeep: boolean
}

/** The exact payment about to be sent. Stored and committed before any node is called. */
export type Attempt =
  | {
      readonly _tag: "Lightning"
      readonly paymentHash: PaymentHash.PaymentHash
      readonly paymentRequest: string
      readonly successAction: SuccessAction | null
    }
  | {
      /** The node pays an offer once per withdrawal id. */
      readonly _tag: "Bolt12"
      readonly offer: string
    }
  | (Candidate & {
      readonly _tag: "Chain"
      /** The outpoints that the transaction spends, as `txid:vout`. No two payouts may share one. */
      readonly coins: ReadonlyArray<string>
      /** The address that the recipient's name resolved to. Such a withdrawal has a transaction of its own. */
      readonly paymentRequest?: string
    })

/** Details of a successful payment. */
export interface Settlement {
  /** Proof of payment for Lightning; null on-chain. */
  readonly preimage: Preimage.Preimage | null
  /** The hash of the preimage, if an offer was paid. */
  readonly reportedHash?: PaymentHash.PaymentHash
  /** For a payout, the candidate that confirmed. */
  readonly chainTxId: TxId.TxId | null
  /** Actual routing or mining fee. */
  readonly networkFee: Msat.Msat
  readonly paymentIndex: string | null
}

/** Transitions expressed as data. Dispatching and settling are implemented by each store. */
export const life = {
  failed: Noun.move(noun, "failed", {
    from: ["pending"],
    to: "failed",
    sets: ["failure"],
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["failed"] }
  })
}

export interface WithdrawalRequested extends Written<
  "WithdrawalRequested",
  readonly [Noun.InsertOf<typeof noun>],
  "money" | "limits" | "freeze" | "fees" | "once"
> {}
/**
 * A withdrawal that is paid by another withdrawal's transaction. That withdrawal is its leader, and may belong
 * to another company.
 */
export interface Follower {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  /** The follower's share of the mining fee. The leader pays the rest. */
  readonly networkFee: Msat.Msat
}
/**
 * Applies once. Repeating the same attempt succeeds, and another attempt is rejected. Followers are dispatched
 * together with the leader, whose task then covers them. Their own tasks are completed, and a stale claim on
 * any of these rejects the whole Change.
 */
export interface WithdrawalDispatched extends Change.Parts<
  "WithdrawalDispatched",
  AlreadyTerminal | PaymentHashTaken | CoinTaken | Conflict | StaleFence
> {
  readonly attempt: Attempt
  readonly followers: ReadonlyArray<Follower & { readonly token: number }>
}
/**
 * Another transaction that spends the same coins at a higher fee. Whichever of the two confirms pays the
 * withdrawal and all its followers.
 */
export interface WithdrawalReplaced extends Change.Parts<
  "WithdrawalReplaced",
  AlreadyTerminal | CoinTaken | Conflict | StaleFence
> {
  readonly attempt: Attempt & { readonly _tag: "Chain" }
  /** All followers, with their shares of the new fee. */
  readonly followers: ReadonlyArray<Follower>
  /** The newest candidate so far, and its change, which can no longer be spent. */
  readonly replaces: { readonly txId: TxId.TxId; readonly change: string | null }
}
/** A settled payout has enough confirmations and is no longer watched. */
export interface PayoutBuried extends Change.Parts<"PayoutBuried"> {
  readonly txId: TxId.TxId
}
export interface WithdrawalSettled extends Change.Parts<
  "WithdrawalSettled",
  AlreadyTerminal | Conflict | StaleFence
> {
  readonly settlement: Settlement
}
export interface WithdrawalFailed extends Written<
  "WithdrawalFailed",
  readonly [Noun.TransitionOf<typeof life.failed, Withdrawal>],
  "credit" | "fence"
> {}
/**
 * An internal payment. Posts the hold and credits the other company in one Change, and settles the claimed
 * invoice, if any.
 */
export interface InternalTransferred extends Change.Parts<
  "InternalTransferred",
  AlreadyTerminal | InvoiceNotPayable | StaleFence
> {
  readonly deposit: Deposit
  readonly settlement: Settlement
  /** The invoice that is paid, already claimed by this withdrawal. Its payment hash becomes the withdrawal's. */
  readonly invoice: {
    readonly id: string
    readonly paymentHash: PaymentHash.PaymentHash
    readonly paymentRequest: string
  } | null
  readonly lightningAddressId: string | null
}

/** Returns the leader's share of its transaction's fee. */
export const ownShare = (
  { networkFee }: Pick<Candidate, "networkFee">,
  followers: ReadonlyArray<{ readonly networkFee: Msat.Msat | null }>
): Msat.Msat =>
  Msat.make(networkFee - Msat.sum(...followers.map((follower) => follower.networkFee ?? Msat.zero)))

/** Returns whether the withdrawal was sent as a payment to an offer. */
export const isByOffer = ({
  rail,
  dispatchedAtMillis,
  paymentHash
}: Pick<Withdrawal, "rail" | "dispatchedAtMillis" | "paymentHash">): boolean =>
  rail === "lightning" && dispatchedAtMillis !== null && paymentHash === null

/** Returns the payment hash, if known. */
export const hashOf = ({
  paymentHash,
  reportedHash
}: Pick<Withdrawal, "paymentHash" | "reportedHash">): PaymentHash.PaymentHash | null =>
  paymentHash ?? reportedHash

/** Returns the total fee on top of the amount. */
export const fee = (withdrawal: Withdrawal): Msat.Msat =>
  Fee.total({ service: withdrawal.serviceFee, network: withdrawal.networkAllowance })

/** Returns the amount held while the withdrawal is pending. */
export const held = (withdrawal: Withdrawal): Msat.Msat => Msat.sum(withdrawal.amount, fee(withdrawal))

/** Returns the status shown to the company. */
export const standing = ({ status, approval }: Pick<Withdrawal, "status" | "approval">): Standing =>
  status === "pending" && approval === "waiting" ? "pending_approval" : status

/** A withdrawal that a hook makes wait (see `WithdrawalHooks`). */
export interface Waiting extends Withdrawal {
  readonly approval: "waiting"
}

export const isWaiting = (row: Withdrawal): row is Waiting => standing(row) === "pending_approval"

/** Returns the time from which the withdrawal may be sent. */
export const beganAtMillis = ({
  approvalAtMillis,
  createdAtMillis
}: Pick<Withdrawal, "approvalAtMillis" | "createdAtMillis">): number => approvalAtMillis ?? createdAtMillis

/** Creates a pending withdrawal that has not been processed. */
export const pending = (
  asked: Pick<
    Withdrawal,
    | "id"
    | "companyId"
    | "ledgerTxId"
    | "amount"
    | "serviceFee"
    | "networkAllowance"
    | "recipient"
    | "recipientType"
    | "rail"
    | "network"
    | "metadata"
    | "createdAtMillis"
  > &
    Rated.Rated &
    Partial<
      Cause.Cause & Pick<Withdrawal, "counted" | "approval" | "approvalAskedBy" | "approvalExpiresAtMillis">
    >
): Withdrawal => ({
  ...asked,
  ...Cause.of(asked),
  counted: asked.counted ?? null,
  approval: asked.approval ?? null,
  approvalAskedBy: asked.approvalAskedBy ?? null,
  approvalExpiresAtMillis: asked.approvalExpiresAtMillis ?? null,
  status: "pending",
  paymentHash: null,
  paymentRequest: null,
  reportedHash: null,
  successAction: null,
  chainTxId: null,
  rawTx: null,
  dispatchedAtMillis: null,
  preimage: null,
  networkFee: null,
  paymentIndex: null,
  failure: null,
  approvalBy: null,
  approvalAtMillis: null,
  updatedAtMillis: asked.createdAtMillis
})

/** Returns the fields that the Changes of a withdrawal share. */
export const parts = <P extends Change.Posting>(
  withdrawal: Withdrawal,
  atMillis: number,
  postings: ReadonlyArray<P>
) => ({
  id: withdrawal.id,
  companyId: withdrawal.companyId,
  atMillis,
  transferId: withdrawal.ledgerTxId,
  legs: [{ companyId: withdrawal.companyId, postings }]
})

/**
 * Kind of the task that sends a withdrawal, from the request until the first attempt. A task of this kind has
 * not been tried yet.
 */
export const taskKind = "withdrawal"

/** Kind of the task of an on-chain withdrawal. Payouts due at the same time may share a transaction. */
export const payoutKind = "payout"

/** Kind of the task of a withdrawal whose payee's server must be called first. */
export const recipientKind = "recipient"

/** Kind of the task of a withdrawal that was already tried or sent. */
export const paymentKind = "payment"

/** Reason why a withdrawal failed that an operator released. */
export const releasedFailure = "node_error" satisfies Failure

/** All kinds of task that a withdrawal in progress may have. */
export const kinds = [taskKind, payoutKind, recipientKind, paymentKind] as const

/**
 * Returns when a payout is due: at the end of the batching interval in which it was confirmed, or immediately
 * if the interval is 0.
 */
export const payoutDueAtMillis = (createdAtMillis: number, windowMillis: number): number =>
  windowMillis === 0 ? createdAtMillis : (Math.floor(createdAtMillis / windowMillis) + 1) * windowMillis

const atOnce = ({ createdAtMillis }: Withdrawal): Omit<Change.Work, "id"> => ({
  kind: taskKind,
  dueAtMillis: createdAtMillis
})

/**
 * Records the withdrawal. Amount and fee move from `available` to `held`. The task is enqueued, unless another
 * key must approve the withdrawal first.
 */
export const requested = (
  withdrawal: Withdrawal,
  once?: Change.Once,
  work = atOnce(withdrawal),
  counts: ReadonlyArray<Limit.Count> = [],
  feesRevision?: number
): WithdrawalRequested => ({
  _tag: "WithdrawalRequested",
  unlessFrozen: true,
  ...parts<Change.Posting>(withdrawal, withdrawal.createdAtMillis, [
    { from: "available", to: "held", amount: held(withdrawal) }
  ]),
  writes: [Noun.insert(noun, withdrawal)],
  jobs: withdrawal.approval === "waiting" ? [] : [Change.enqueue({ ...work, id: withdrawal.id })],
  event: { type: "withdrawal.requested", subject: withdrawal.id },
  ...(once && { once }),
  ...(counts.length > 0 && { counts }),
  ...(feesRevision !== undefined && { feesRevision })
})

/** Records the attempt that will be sent. No money moves. */
export const dispatched = (
  withdrawal: Withdrawal,
  attempt: Attempt,
  fence: Change.Fence,
  atMillis: number,
  followers: WithdrawalDispatched["followers"] = []
): WithdrawalDispatched => ({
  _tag: "WithdrawalDispatched",
  ...parts(withdrawal, atMillis, []),
  fence,
  legs: [],
  attempt,
  followers,
  event: { type: "withdrawal.dispatched", subject: withdrawal.id },
  eventsForOthers: followers.map(({ id, companyId }) => ({
    companyId,
    type: "withdrawal.dispatched",
    subject: id
  }))
})

/** Records a replacement at a higher fee. No money moves. */
export const replaced = (
  withdrawal: Withdrawal,
  attempt: WithdrawalReplaced["attempt"],
  replaces: WithdrawalReplaced["replaces"],
  fence: Change.Fence,
  atMillis: number,
  followers: WithdrawalReplaced["followers"] = []
): WithdrawalReplaced => ({
  _tag: "WithdrawalReplaced",
  ...parts(withdrawal, atMillis, []),
  fence,
  legs: [],
  attempt,
  replaces,
  followers,
  event: { type: "withdrawal.replaced", subject: withdrawal.id },
  eventsForOthers: followers.map(({ id, companyId }) => ({
    companyId,
    type: "withdrawal.replaced",
    subject: id
  }))
})

/** Stops watching a payout whose transaction has enough confirmations. */
export const buried = (
  payout: { readonly companyId: CompanyId.CompanyId; readonly id: string; readonly txId: TxId.TxId },
  atMillis: number
): PayoutBuried => ({
  _tag: "PayoutBuried",
  ...Change.on(payout, atMillis),
  txId: payout.txId
})

/**
 * Settles a paid withdrawal by posting the full hold. For example, with an amount of 1000, fees of 5 and 10,
 * and a route that cost 3, 1003 leaves the node, 5 is the operator's revenue, and 7 of the allowance stays in
 * `network_fees`. Any cost above the fee limit is booked as the operator's `loss`. Without a fence, an operator
 * settles it.
 */
export const settled = (
  withdrawal: Withdrawal,
  settlement: Settlement,
  fence: Change.Fence | undefined,
  atMillis: number
): WithdrawalSettled => {
  const asset = withdrawal.rail === "lightning" ? "node" : "chain"
  const { networkFee } = settlement
  const over =
    networkFee > withdrawal.networkAllowance ? Msat.make(networkFee - withdrawal.networkAllowance) : Msat.zero
  const postings = Change.moving(
    { from: "held", to: asset, amount: withdrawal.amount },
    { from: "held", to: "service_fees", amount: withdrawal.serviceFee },
    { from: "held", to: "network_fees", amount: withdrawal.networkAllowance },
    { from: "network_fees", to: asset, amount: Msat.make(networkFee - over) },
    { from: "loss", to: asset, amount: over }
  )
  return {
    _tag: "WithdrawalSettled",
    ...parts(withdrawal, atMillis, postings),
    ...(fence && { fence }),
    settlement,
    jobs: [Change.complete(withdrawal.id), ...Cause.jobs(withdrawal, atMillis)],
    event: { type: "withdrawal.settled", subject: withdrawal.id }
  }
}

/** Fails a withdrawal that was not paid and never will be. Voids the hold, which releases the full amount. */
export const failed = (
  withdrawal: Withdrawal,
  failure: Failure,
  fence: Change.Fence | undefined,
  atMillis: number
): WithdrawalFailed => ({
  _tag: "WithdrawalFailed",
  ...parts(withdrawal, atMillis, [{ from: "held", to: "available", amount: held(withdrawal) } as const]),
  ...(fence && { fence }),
  ...Limit.returned(withdrawal.counted),
  writes: [Noun.step(life.failed, withdrawal, { failure })],
  jobs: [Change.complete(withdrawal.id), ...Cause.jobs(withdrawal, atMillis)],
  event: { type: "withdrawal.failed", subject: withdrawal.id }
})

/**
 * Pays another company internally. For 1000 with a fee of 5, 1005 leaves the hold, 1000 is credited and 5 is
 * revenue. No payment is sent through the node. The payee also receives an event: `deposit.settled`.
 */
export const transferred = (
  withdrawal: Withdrawal,
  to: {
    readonly deposit: Deposit
    readonly invoice: InternalTransferred["invoice"]
    readonly preimage: Preimage.Preimage | null
    readonly lightningAddressId: string | null
    readonly jobs?: ReadonlyArray<Change.Job>
  },
  fence: Change.Fence,
  atMillis: number
): InternalTransferred => ({
  _tag: "InternalTransferred",
  ...parts(withdrawal, atMillis, []),
  fence,
  legs: [
    {
      companyId: withdrawal.companyId,
      postings: Change.moving(
        { from: "held", to: "internal", amount: withdrawal.amount },
        { from: "held", to: "service_fees", amount: withdrawal.serviceFee },
        { from: "held", to: "network_fees", amount: withdrawal.networkAllowance }
      )
    },
    {
      companyId: to.deposit.companyId,
      postings: [{ from: "internal", to: "available", amount: withdrawal.amount }]
    }
  ],
  deposit: to.deposit,
  invoice: to.invoice,
  lightningAddressId: to.lightningAddressId,
  settlement: { preimage: to.preimage, chainTxId: null, networkFee: Msat.zero, paymentIndex: null },
  jobs: [Change.complete(withdrawal.id), ...Cause.jobs(withdrawal, atMillis), ...(to.jobs ?? [])],
  event: { type: "withdrawal.settled", subject: withdrawal.id },
  eventsForOthers: [{ companyId: to.deposit.companyId, type: "deposit.settled", subject: to.deposit.id }]
})
