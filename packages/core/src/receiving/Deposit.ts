import * as Msat from "@satrail/bitcoin/Msat"
import { Network } from "@satrail/bitcoin/Network"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { Rail, Status } from "../ledger/Rail.ts"
import type { Written } from "../ledger/Written.ts"

/**
 * Money that came in. Over Lightning and from inside it is `settled` from the start; on-chain it is `pending` when seen, `settled` when deep
 * enough, `pending` again when a reorganisation takes it out of the chain, and `failed` when its coins were spent elsewhere, or when it is so
 * small that spending it would cost more than it brings: then it is recorded, and nothing is credited.
 */
export const Deposit = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  /** The invoice or address that was paid. */
  recipient: Schema.String,
  /** What arrived, to the msat, which may be more than was asked. */
  amount: Msat.Msat,
  network: Network,
  rail: Rail,
  status: Status,
  /** The output (transaction and index) that paid; null over Lightning and from inside. */
  chainTxId: Schema.NullOr(TxId.TxId),
  vout: Schema.NullOr(Schema.Int),
  /** The block it is in; null while it waits in the mempool. */
  height: Schema.NullOr(Schema.Int),
  lightningInvoiceId: Schema.NullOr(Noun.Id),
  /** The checkout that it pays. */
  checkoutId: Schema.NullOr(Noun.Id),
  /** The metadata of the invoice or address, as it was when it was paid. Null where an earlier version wrote the record: see `Paid`. */
  metadata: Schema.NullOr(Metadata.Metadata),
  /** What a reversal could not take back, because the company had spent it: the operator bears it until the payment returns. */
  absorbed: Msat.Msat,
  /** What refunds of it come to that are open, under way or paid: never more than `amount`. */
  refunded: Msat.Msat,
  /** The newest refund of it. */
  refundId: Schema.NullOr(Noun.Id),
  /** Counts the moves of an on-chain deposit: each Change says which one it follows. */
  revision: Schema.Int,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Deposit extends Schema.Schema.Type<typeof Deposit> {}

/** What nothing was refunded of. */
export const unrefunded = { refunded: Msat.zero, refundId: null } as const

/** One that came in over Lightning or from inside: it is settled from the start. */
export const settledFromStart = (
  paid: Pick<
    Deposit,
    "id" | "companyId" | "ledgerTxId" | "recipient" | "amount" | "network" | "rail" | "lightningInvoiceId" | "checkoutId" | "metadata"
  >,
  atMillis: number
): Deposit => ({
  ...paid,
  status: "settled",
  chainTxId: null,
  vout: null,
  height: null,
  absorbed: Msat.zero,
  ...unrefunded,
  revision: 0,
  createdAtMillis: atMillis,
  updatedAtMillis: atMillis
})

/** The same, with metadata whichever version wrote it. */
export interface Shown extends Deposit {
  readonly metadata: Metadata.Metadata
}

/** Another worker moved the deposit first, or knows the output already. Read it again. */
export class DepositMoved extends Schema.TaggedError<DepositMoved>()("DepositMoved", { id: Schema.String }) {}

/** An output is one deposit. */
export const noun = Noun.make("deposits", Deposit, {
  moving: ["status", "height", "absorbed", "refunded", "refundId", "revision", "updatedAtMillis"],
  unique: [["chainTxId", "vout"]],
  labels: "metadata",
  taken: ({ id }) => new DepositMoved({ id }),
  other: ({ id }) => new DepositMoved({ id }),
  refused: (id) => new DepositMoved({ id })
})

/** Its life, on-chain: each step says where the deposit stands from here on, and applies where it stands as it was found. */
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
export interface DepositDropped extends Written<"DepositDropped", Moved> {}

/** A transaction that pays us was seen. Nothing is credited; of one that has `failed` already, because it is too small, nothing ever will be. */
export const seen = (deposit: Deposit): DepositSeen => ({
  _tag: "DepositSeen",
  id: deposit.id,
  companyId: deposit.companyId,
  atMillis: deposit.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, deposit)],
  event: { type: deposit.status === "failed" ? "deposit.too_small" : "deposit.pending", subject: deposit.id }
})

/** Whether it was too small when it was seen: it is recorded as failed then, and nothing moves it afterwards. */
export const isTooSmall = ({ status, revision }: Deposit): boolean => status === "failed" && revision === 0

const parts = (before: Deposit, values: Partial<Pick<Deposit, "status" | "height" | "absorbed">>, atMillis: number) => {
  const { id, companyId, ledgerTxId, status, height, absorbed, revision } = before
  return {
    id,
    companyId,
    atMillis,
    transferId: ledgerTxId,
    legs: [],
    writes: [Noun.step(life.moved, before, { status, height, absorbed, ...values, revision: revision + 1 })] as const
  }
}

/** The deposit as it is after this Change, if it applies. */
export const after = ({ writes: [moved], atMillis }: DepositPlaced | DepositConfirmed | DepositReversed | DepositDropped): Deposit =>
  Noun.after(moved.found, moved, atMillis)

/** The current placement of the payment: in a block, or (null) waiting for one. An evicted one is pending again; a settled one stays settled. */
export const placed = (before: Deposit, height: number | null, atMillis: number): DepositPlaced => ({
  _tag: "DepositPlaced",
  ...parts(before, { height, status: before.status === "settled" ? "settled" : "pending" }, atMillis)
})

/** Deep enough: the amount is credited, and what the operator bore for an earlier reversal returns to it. Of 1000 with 200 borne, 800 and 200. */
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
 * The chain took it back after it was credited. `absorbed` is the part that the company has spent: of 1000 with 800 left,
 * 800 are taken from the company and 200 from the operator's `loss`. Refused when the company has less than its part by now.
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

/** Its coins were spent by another transaction: it will not come, unless that one is undone. */
export const dropped = (before: Deposit, atMillis: number): DepositDropped => ({
  _tag: "DepositDropped",
  ...parts(before, { status: "failed", height: null }, atMillis),
  event: { type: "deposit.failed", subject: before.id }
})
