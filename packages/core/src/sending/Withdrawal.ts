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
import { refundEnds } from "./RefundTask.ts"

/** Why a withdrawal failed. Every one of them means: nothing was paid, and nothing will be. */
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
  "address_not_payable",
  "approval_rejected",
  "approval_expired"
])
export type Failure = typeof Failure.Type

/** Where the approval of a withdrawal stands. */
export const ApprovalState = Schema.Literals(["waiting", "approved", "rejected", "expired"])
export type ApprovalState = typeof ApprovalState.Type

/** Money on its way out. `amount` is what the recipient gets; the fees come on top: 1000 out with 5 and 10 holds 1015. */
export const Withdrawal = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  serviceFee: Msat.Msat,
  networkAllowance: Msat.Msat,
  /** The destination as it was understood. */
  recipient: Schema.String,
  recipientType: RecipientType,
  rail: Rail,
  network: Network,
  metadata: Metadata.Metadata,
  /** Fiat units for one bitcoin, when the amount was given in fiat. */
  rate: Schema.NullOr(Schema.String),
  /** When that was the rate. */
  rateAtMillis: Schema.NullOr(Schema.Int),
  /** The refund that it pays. */
  refundId: Schema.NullOr(Noun.Id),
  status: Status,
  /** What is being paid, from the moment it was decided, before any node is called. Null for an on-chain one, and for one that pays an offer. */
  paymentHash: Schema.NullOr(PaymentHash.PaymentHash),
  /** The invoice that is paid; or the offer: the node knows its attempt by the withdrawal's id, and its issuer chooses the hash. For an on-chain one null, or the address that its recipient stood for, where that is a name. */
  paymentRequest: Schema.NullOr(Schema.String),
  /** The payment hash that the node reported when it had paid the offer. It is nobody's identity: it may be that of another payment, too. */
  reportedHash: Schema.NullOr(PaymentHash.PaymentHash),
  /** What the recipient's server wants shown once it is paid (LUD-09). */
  successAction: Schema.NullOr(SuccessAction),
  /** The transaction, from the moment it was signed, before it is broadcast. Null for a Lightning one. */
  chainTxId: Schema.NullOr(TxId.TxId),
  /** Its bytes. Null also where it is another withdrawal's, which leads, and pays this one with an output of its own. */
  rawTx: Schema.NullOr(Schema.String),
  dispatchedAtMillis: Schema.NullOr(Schema.Int),
  /** The proof of payment, once it is settled over Lightning. */
  preimage: Schema.NullOr(Preimage.Preimage),
  /** What routing or mining did cost, once it is known; of a transaction that pays others too, its share. */
  networkFee: Schema.NullOr(Msat.Msat),
  /** The node's own number for the payment. */
  paymentIndex: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Failure),
  /** Against whose limits it counts: nobody's any more once it failed. */
  counted: Schema.NullOr(Limit.Noted),
  /** Whether another key had to approve it; null: none had to. While it waits it is pending, and has no job. */
  approval: Schema.NullOr(ApprovalState),
  /** The key that asked for it, where another one has to approve: the first of those that replaced each other. null: who embeds the service. */
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

/** The withdrawal already ended, and ended differently. It stays as it is. */
export class AlreadyTerminal extends Schema.TaggedError<AlreadyTerminal>()("AlreadyTerminal", {
  id: Schema.String,
  status: Schema.String
}) {}

/** One payment hash is one withdrawal's for ever. */
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

/** Another withdrawal pays, paid or failed to pay this payment hash. One hash is one withdrawal's for ever: a retry needs a new invoice. */
export class PaymentHashTaken extends Schema.TaggedError<PaymentHashTaken>()("PaymentHashTaken", {
  paymentHash: PaymentHash.PaymentHash
}) {}

/** Another payout spends one of these coins. */
export class CoinTaken extends Schema.TaggedError<CoinTaken>()("CoinTaken", { withdrawalId: Schema.String }) {}

/** A signed transaction that pays a withdrawal. A replacement of it is another one: either may end in a block. */
export interface Candidate {
  readonly txId: TxId.TxId
  readonly rawTx: string
  /** What was signed (BIP 174, base64): a replacement is made from it. */
  readonly psbt: string
  readonly networkFee: Msat.Msat
  readonly change: Coin.Change | null
  /** Whether it spends change of a payout that was in no block. */
  readonly isDeep: boolean
}

/** What is about to be sent, to the last byte. Stored and committed before any node is called. */
export type Attempt =
  | {
      readonly _tag: "Lightning"
      readonly paymentHash: PaymentHash.PaymentHash
      readonly paymentRequest: string
      readonly successAction: SuccessAction | null
    }
  | {
      /** An offer is paid under the withdrawal's own id, once. */
      readonly _tag: "Offer"
      readonly offer: string
    }
  | (Candidate & {
      readonly _tag: "Chain"
      /** The outpoints it spends, `txid:vout`. No two payouts may share one. */
      readonly coins: ReadonlyArray<string>
      /** The address that a name stood for, where the recipient is a name: it is paid alone. */
      readonly paymentRequest?: string
    })

/** How a payment ended well. */
export interface Settlement {
  /** The proof, for Lightning. */
  readonly preimage: Preimage.Preimage | null
  /** What the preimage proves, where the node was given an offer. */
  readonly reportedHash?: PaymentHash.PaymentHash
  /** The candidate that is in a block, for a payout. */
  readonly chainTxId: TxId.TxId | null
  /** What routing or mining did cost. */
  readonly networkFee: Msat.Msat
  readonly paymentIndex: string | null
}

/** The steps of its life that are written. What sends and settles it, over Lightning or on-chain, is a program of each store. */
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
/** A withdrawal, of whichever company, that is paid by the transaction of another one, which leads. */
export interface Follower {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  /** Its share of what mining costs. The one that leads bears the rest. */
  readonly networkFee: Msat.Msat
}
/**
 * Applies once: the same attempt again is applied, another one is refused. Who follows is dispatched with it, and is from here on the work of the task of the
 * one that leads: the tasks of all others end, and a stale claim on any of them refuses all.
 */
export interface WithdrawalDispatched extends Change.Parts<
  "WithdrawalDispatched",
  AlreadyTerminal | PaymentHashTaken | CoinTaken | Conflict | StaleFence
> {
  readonly attempt: Attempt
  readonly followers: ReadonlyArray<Follower & { readonly token: number }>
}
/** Another transaction from the same coins for a higher fee. Whichever of them is mined pays the withdrawal, and all that follow it. */
export interface WithdrawalReplaced extends Change.Parts<"WithdrawalReplaced", AlreadyTerminal | CoinTaken | Conflict | StaleFence> {
  readonly attempt: Attempt & { readonly _tag: "Chain" }
  /** Everybody who follows, and their shares of the new fee. */
  readonly followers: ReadonlyArray<Follower>
  /** The newest candidate so far, and its change, which may not be spent any more. */
  readonly replaces: { readonly txId: TxId.TxId; readonly change: string | null }
}
/** A payout that settled is so deep that it is no longer watched. */
export interface PayoutBuried extends Change.Parts<"PayoutBuried"> {
  readonly txId: TxId.TxId
}
export interface WithdrawalSettled extends Change.Parts<"WithdrawalSettled", AlreadyTerminal | Conflict | StaleFence> {
  readonly settlement: Settlement
}
export interface WithdrawalFailed extends Written<
  "WithdrawalFailed",
  readonly [Noun.TransitionOf<typeof life.failed, Withdrawal>],
  "credit" | "fence"
> {}
/** Both ends are ours: the hold is posted and the other company credited, together. A claimed invoice settles with it. */
export interface InternalTransferred extends Change.Parts<"InternalTransferred", AlreadyTerminal | InvoiceNotPayable | StaleFence> {
  readonly deposit: Deposit
  readonly settlement: Settlement
  /** The invoice it pays, claimed by this withdrawal before; its hash is the withdrawal's from here on. */
  readonly invoice: { readonly id: string; readonly paymentHash: PaymentHash.PaymentHash; readonly paymentRequest: string } | null
  /** The Lightning address it pays. */
  readonly lightningAddressId: string | null
}

/** What the one that leads bears of the fee of its transaction. */
export const ownShare = (
  { networkFee }: Pick<Candidate, "networkFee">,
  followers: ReadonlyArray<{ readonly networkFee: Msat.Msat | null }>
): Msat.Msat => Msat.make(networkFee - Msat.sum(...followers.map((follower) => follower.networkFee ?? Msat.zero)))

/** Whether what was sent is an attempt to pay an offer. */
export const isByOffer = ({
  rail,
  dispatchedAtMillis,
  paymentHash
}: Pick<Withdrawal, "rail" | "dispatchedAtMillis" | "paymentHash">): boolean =>
  rail === "lightning" && dispatchedAtMillis !== null && paymentHash === null

/** The hash of the payment, as far as it is known. */
export const hashOf = ({ paymentHash, reportedHash }: Pick<Withdrawal, "paymentHash" | "reportedHash">): PaymentHash.PaymentHash | null =>
  paymentHash ?? reportedHash

/** The whole fee on top of the amount. */
export const fee = (withdrawal: Withdrawal): Msat.Msat =>
  Fee.total({ service: withdrawal.serviceFee, network: withdrawal.networkAllowance })

/** What is held while it is pending. */
export const held = (withdrawal: Withdrawal): Msat.Msat => Msat.sum(withdrawal.amount, fee(withdrawal))

/** Where it stands, as its company is told. */
export const standing = ({ status, approval }: Pick<Withdrawal, "status" | "approval">): Standing =>
  status === "pending" && approval === "waiting" ? "pending_approval" : status

/** From when on it may be sent. */
export const beganAtMillis = ({ approvalAtMillis, createdAtMillis }: Pick<Withdrawal, "approvalAtMillis" | "createdAtMillis">): number =>
  approvalAtMillis ?? createdAtMillis

/** One that nothing has been done about yet. */
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
    | "rate"
    | "rateAtMillis"
    | "createdAtMillis"
  > &
    Partial<Pick<Withdrawal, "refundId" | "counted" | "approval" | "approvalAskedBy" | "approvalExpiresAtMillis">>
): Withdrawal => ({
  refundId: null,
  counted: null,
  approval: null,
  approvalAskedBy: null,
  approvalExpiresAtMillis: null,
  ...asked,
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

const parts = <P extends Change.Posting>(withdrawal: Withdrawal, atMillis: number, postings: ReadonlyArray<P>) => ({
  id: withdrawal.id,
  companyId: withdrawal.companyId,
  atMillis,
  transferId: withdrawal.ledgerTxId,
  legs: [{ companyId: withdrawal.companyId, postings }]
})

/** The work of sending a withdrawal: it begins when it is requested and ends when it does. Nothing of this kind has been tried yet. */
export const taskKind = "withdrawal"

/** The same for one that a transaction of ours pays: what is due together may share one. */
export const payoutKind = "payout"

/** The same for one whose recipient's server has to be asked first. */
export const recipientKind = "recipient"

/** The same for one that was tried or sent, and is looked at again. */
export const paymentKind = "payment"

/** Whatever work a withdrawal that has not ended is. */
export const kinds = [taskKind, payoutKind, recipientKind, paymentKind] as const

/** When a payout is due: at the end of the window in which it was confirmed, as are all others of that window; at once where there is none (0). */
export const payoutDueAtMillis = (createdAtMillis: number, windowMillis: number): number =>
  windowMillis === 0 ? createdAtMillis : (Math.floor(createdAtMillis / windowMillis) + 1) * windowMillis

const atOnce = ({ createdAtMillis }: Withdrawal): Omit<Change.Work, "id"> => ({ kind: taskKind, dueAtMillis: createdAtMillis })

/** Amount and fee leave `available` and wait in `held`; the job of sending it exists from here on, unless another key has to approve it first. */
export const requested = (
  withdrawal: Withdrawal,
  once?: Change.Once,
  work = atOnce(withdrawal),
  counts: ReadonlyArray<Limit.Count> = [],
  feesRevision?: number
): WithdrawalRequested => ({
  _tag: "WithdrawalRequested",
  unlessFrozen: true,
  ...parts<Change.Posting>(withdrawal, withdrawal.createdAtMillis, [{ from: "available", to: "held", amount: held(withdrawal) }]),
  writes: [Noun.insert(noun, withdrawal)],
  jobs: withdrawal.approval === "waiting" ? [] : [Change.enqueue({ ...work, id: withdrawal.id })],
  event: { type: "withdrawal.requested", subject: withdrawal.id },
  ...(once && { once }),
  ...(counts.length > 0 && { counts }),
  ...(feesRevision !== undefined && { feesRevision })
})

/** What will be sent is decided. No money moves. */
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
  event: { type: "withdrawal.dispatched", subject: withdrawal.id }
})

/** What was sent is offered again for a higher fee. No money moves. */
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
  event: { type: "withdrawal.replaced", subject: withdrawal.id }
})

/** What settled it is deep enough in the chain to be left alone. */
export const buried = (
  payout: { readonly companyId: CompanyId.CompanyId; readonly id: string; readonly txId: TxId.TxId },
  atMillis: number
): PayoutBuried => ({
  _tag: "PayoutBuried",
  id: payout.id,
  companyId: payout.companyId,
  atMillis,
  legs: [],
  txId: payout.txId
})

/**
 * It was paid: the hold is posted in full. 1000 go to the node with fees of 5 and 10 whose route cost 3: 1000 and 3 leave the node,
 * 5 are the operator's revenue, 7 of the allowance stay in `network_fees`. What a node spent above its limit is the operator's `loss`.
 */
export const settled = (withdrawal: Withdrawal, settlement: Settlement, fence: Change.Fence, atMillis: number): WithdrawalSettled => {
  const asset = withdrawal.rail === "lightning" ? "node" : "chain"
  const { networkFee } = settlement
  const over = networkFee > withdrawal.networkAllowance ? Msat.make(networkFee - withdrawal.networkAllowance) : Msat.zero
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
    fence,
    settlement,
    jobs: [Change.complete(withdrawal.id), ...refundEnds(withdrawal, atMillis)],
    event: { type: "withdrawal.settled", subject: withdrawal.id }
  }
}

/** It was not paid and never will be: the hold is voided and everything is available again. */
export const failed = (withdrawal: Withdrawal, failure: Failure, fence: Change.Fence, atMillis: number): WithdrawalFailed => ({
  _tag: "WithdrawalFailed",
  ...parts(withdrawal, atMillis, [{ from: "held", to: "available", amount: held(withdrawal) } as const]),
  fence,
  ...Limit.returned(withdrawal.counted),
  writes: [Noun.step(life.failed, withdrawal, { failure })],
  jobs: [Change.complete(withdrawal.id), ...refundEnds(withdrawal, atMillis)],
  event: { type: "withdrawal.failed", subject: withdrawal.id }
})

/** 1000 with a fee of 5 from one company to another: 1005 leave the hold, 1000 arrive, 5 are revenue. Nothing touches a node. The payee has an event too: `deposit.settled`. */
export const transferred = (
  withdrawal: Withdrawal,
  to: {
    readonly deposit: Deposit
    readonly invoice: InternalTransferred["invoice"]
    readonly preimage: Preimage.Preimage | null
    readonly lightningAddressId: string | null
    /** The jobs of the deposit. */
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
    { companyId: to.deposit.companyId, postings: [{ from: "internal", to: "available", amount: withdrawal.amount }] }
  ],
  deposit: to.deposit,
  invoice: to.invoice,
  lightningAddressId: to.lightningAddressId,
  settlement: { preimage: to.preimage, chainTxId: null, networkFee: Msat.zero, paymentIndex: null },
  jobs: [Change.complete(withdrawal.id), ...refundEnds(withdrawal, atMillis), ...(to.jobs ?? [])],
  event: { type: "withdrawal.settled", subject: withdrawal.id }
})
