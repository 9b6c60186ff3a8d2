import * as Msat from "@satrail/bitcoin/Msat"
import { Network } from "@satrail/bitcoin/Network"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { Rail, Status } from "../ledger/Rail.ts"
import { type Written, written } from "../ledger/Written.ts"
import * as Purpose from "./Purpose.ts"

/**
 * An incoming payment. A deposit received over Lightning or settled internally is `settled` from the start. An
 * on-chain deposit is `pending` when first seen, `settled` with enough confirmations, and `pending` again if a
 * reorganization removes its transaction from the chain. It is `failed` if its coins were spent by another
 * transaction. It is also `failed`, and never credited, if it is below the minimum or worth less than the cost
 * of spending it.
 */
export const Deposit = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  /** The paid invoice or address. */
  recipient: Schema.String,
  /** The amount received in msat, which may exceed the amount requested. */
  amount: Msat.Msat,
  network: Network,
  rail: Rail,
  status: Status,
  /** The output (transaction and index) that paid the address; null for Lightning and internal payments. */
  chainTxId: Schema.NullOr(TxId.TxId),
  vout: Schema.NullOr(Schema.Int),
  /** Height of the block with the transaction; null while it is in the mempool. */
  height: Schema.NullOr(Schema.Int),
  lightningInvoiceId: Schema.NullOr(Noun.Id),
  ...Purpose.members,
  /** Metadata of the invoice or address at the time of payment. */
  metadata: Metadata.Metadata,
  /**
   * The part of a reversed credit that the company had already spent or that is held. The operator bears it until
   * the payment is credited again, or until it is reclaimed from the company's available balance.
   */
  absorbed: Msat.Msat,
  /** Total of this deposit's open, pending and completed refunds; never more than `amount`. */
  refunded: Msat.Msat,
  /** The newest refund of this deposit. */
  refundId: Schema.NullOr(Noun.Id),
  /** Counts the changes to an on-chain deposit. Each Change names the revision that it follows. */
  revision: Schema.Int,
  /**
   * Time at which the chain shows that the payment had been made: that of its block, or when the transaction that it
   * replaced was first seen. Null if that is not before `createdAtMillis`.
   */
  paidAtMillis: Schema.NullOr(Schema.Int),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Deposit extends Schema.Schema.Type<typeof Deposit> {}

/** Initial values of a deposit without refunds. */
export const unrefunded = { refunded: Msat.zero, refundId: null } as const

/**
 * Creates a deposit received over Lightning or settled internally. Its status is `settled` from the start.
 */
export const settledFromStart = (
  paid: Pick<
    Deposit,
    | "id"
    | "companyId"
    | "ledgerTxId"
    | "recipient"
    | "amount"
    | "network"
    | "rail"
    | "lightningInvoiceId"
    | "metadata"
  > &
    Purpose.Purpose,
  atMillis: number
): Deposit => ({
  ...paid,
  status: "settled",
  chainTxId: null,
  vout: null,
  height: null,
  absorbed: Msat.zero,
  ...unrefunded,
  paidAtMillis: null,
  revision: 0,
  createdAtMillis: atMillis,
  updatedAtMillis: atMillis
})

/** Returns the earliest time at which the payment is known to have been made. */
export const paidAt = ({ paidAtMillis, createdAtMillis }: Deposit): number => paidAtMillis ?? createdAtMillis

/** Another worker changed the deposit first, or has already recorded the output. Read the deposit again. */
export class DepositMoved extends Schema.TaggedError<DepositMoved>()("DepositMoved", { id: Schema.String }) {}

/** Each output is recorded as one deposit. */
export const noun = Noun.make("deposits", Deposit, {
  moving: ["status", "height", "absorbed", "refunded", "refundId", "revision", "updatedAtMillis"],
  unique: [["chainTxId", "vout"]],
  labels: "metadata",
  taken: ({ id }) => new DepositMoved({ id }),
  other: ({ id }) => new DepositMoved({ id }),
  refused: (id) => new DepositMoved({ id })
})

/**
 * Transitions of an on-chain deposit. Each sets the new status and height, and applies only if the deposit has
 * not changed since it was read.
 */
export const life = {
  moved: Noun.move(noun, "moved", {
    expects: ["revision"],
    sets: ["status", "height", "absorbed", "revision"],
    stamps: ["updatedAtMillis"],
    again: { same: ["status", "height", "absorbed", "revision", "updatedAtMillis"] }
  })
}

type Moved = readonly [Noun.TransitionOf<typeof life.moved, Deposit>]

export interface DepositSeen extends Written<"DepositSeen", readonly [Noun.InsertOf<typeof noun>]> {}
export interface DepositPlaced extends Written<"DepositPlaced", Moved> {}
export interface DepositConfirmed extends Written<"DepositConfirmed", Moved, "credit"> {}
export interface DepositReversed extends Written<"DepositReversed", Moved, "money"> {}
export interface DepositReclaimed extends Written<"DepositReclaimed", Moved, "money"> {}
export interface DepositDropped extends Written<"DepositDropped", Moved> {}

/**
 * Records a transaction that pays us. Nothing is credited yet. A deposit that starts as `failed` because it
 * is too small is never credited.
 */
export const seen = (deposit: Deposit): DepositSeen =>
  written("DepositSeen", deposit.createdAtMillis, [Noun.insert(noun, deposit)], {
    event: {
      type: deposit.status === "failed" ? "deposit.too_small" : "deposit.pending",
      subject: deposit.id
    }
  })

/**
 * Returns whether the deposit was too small when first seen. Such a deposit is recorded as failed and never
 * changes.
 */
export const isTooSmall = ({ status, revision }: Deposit): boolean => status === "failed" && revision === 0

const parts = (
  before: Deposit,
  values: Partial<Pick<Deposit, "status" | "height" | "absorbed">>,
  atMillis: number
) => {
  const { id, companyId, ledgerTxId, status, height, absorbed, revision } = before
  return {
    id,
    companyId,
    atMillis,
    transferId: ledgerTxId,
    legs: [],
    writes: [
      Noun.step(life.moved, before, { status, height, absorbed, ...values, revision: revision + 1 })
    ] as const
  }
}

/** A Change of an on-chain deposit after it was first seen. */
export type DepositChange =
  | DepositPlaced
  | DepositConfirmed
  | DepositReversed
  | DepositReclaimed
  | DepositDropped

/** Returns the deposit after this Change, assuming that it applies. */
export const after = ({ writes: [moved], atMillis }: DepositChange): Deposit =>
  Noun.after(moved.found, moved, atMillis)

/**
 * Records the height of the payment's current block, or null if the payment is in the mempool. An evicted
 * deposit becomes pending again; a settled one stays settled.
 */
export const placed = (before: Deposit, height: number | null, atMillis: number): DepositPlaced => ({
  _tag: "DepositPlaced",
  ...parts(before, { height, status: before.status === "settled" ? "settled" : "pending" }, atMillis)
})

/**
 * Credits a deposit with enough confirmations. First repays the operator for the loss from an earlier
 * reversal: of 1000 with a loss of 200, the company receives 800 and the operator 200.
 */
export const confirmed = (before: Deposit, atMillis: number): DepositConfirmed => ({
  _tag: "DepositConfirmed",
  ...parts(before, { status: "settled", absorbed: Msat.zero }, atMillis),
  legs: [
    {
      companyId: before.companyId,
      postings: Change.moving(
        { from: "chain", to: "available", amount: Msat.make(before.amount - before.absorbed) } as const,
        { from: "chain", to: "loss", amount: before.absorbed } as const
      )
    }
  ],
  event: { type: "deposit.settled", subject: before.id }
})

/**
 * Reverses a credit after a reorganization. `absorbed` is the part that the company has spent or that is held. Of 1000
 * with 800 left, 800 is debited from the company and 200 from the operator's `loss`. Rejected if the company no
 * longer has the amount to be debited.
 */
export const reversed = (before: Deposit, absorbed: Msat.Msat, atMillis: number): DepositReversed => ({
  _tag: "DepositReversed",
  ...parts(before, { status: "pending", height: null, absorbed }, atMillis),
  legs: [
    {
      companyId: before.companyId,
      postings: Change.moving<Change.Posting>(
        { from: "available", to: "chain", amount: Msat.make(before.amount - absorbed) },
        { from: "loss", to: "chain", amount: absorbed }
      )
    }
  ],
  event: { type: "deposit.reversed", subject: before.id }
})

/**
 * Repays the operator for a reversal from the company's available balance, such as a hold that was released since.
 * `amount` is at most `absorbed`. Rejected if the company no longer has it.
 */
export const reclaimed = (before: Deposit, amount: Msat.Msat, atMillis: number): DepositReclaimed => ({
  _tag: "DepositReclaimed",
  ...parts(before, { absorbed: Msat.make(before.absorbed - amount) }, atMillis),
  legs: [
    {
      companyId: before.companyId,
      postings: Change.moving({ from: "available", to: "loss", amount } as const)
    }
  ]
})

/**
 * Fails a deposit whose coins were spent by another transaction. The failure is final unless that transaction
 * is undone.
 */
export const dropped = (before: Deposit, atMillis: number): DepositDropped => ({
  _tag: "DepositDropped",
  ...parts(before, { status: "failed", height: null }, atMillis),
  event: { type: "deposit.failed", subject: before.id }
})
