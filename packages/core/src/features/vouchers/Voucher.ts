import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as Fee from "../../accounts/Fee.ts"
import { originOf } from "../../accounts/Installation.ts"
import * as CompanyId from "../../base/CompanyId.ts"
import * as Metadata from "../../base/Metadata.ts"
import * as SecretHash from "../../base/SecretHash.ts"
import * as Change from "../../ledger/Change.ts"
import * as Limit from "../../ledger/Limit.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"
import { refundEnds } from "../../sending/RefundTask.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"

/**
 * `open` may be claimed, with its secret. `claimed` is final: the outcome is its withdrawal's. `expired` and `canceled`
 * are final too: the hold was voided.
 */
export const Status = Schema.Literals(["open", "claimed", "expired", "canceled"])
export type Status = typeof Status.Type

/** How long a voucher may be open, in seconds. Not longer than the answer to its creation is kept. */
export const expirySeconds = { minimum: 60, default: 86_400, maximum: 2_592_000 } as const

/** Money that is held for the first wallet that claims it (LUD-03). `amount` is what the claimer gets; the fees come on top, as in a withdrawal. */
export const Voucher = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The transfer of its hold, and of the withdrawal that it becomes. */
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  serviceFee: Msat.Msat,
  networkAllowance: Msat.Msat,
  /** What a wallet shows. */
  description: Schema.String,
  metadata: Metadata.Metadata,
  /** Fiat units for one bitcoin, when the amount was given in fiat. */
  rate: Schema.NullOr(Schema.String),
  /** When that was the rate. */
  rateAtMillis: Schema.NullOr(Schema.Int),
  /** The refund that it pays. */
  refundId: Schema.NullOr(Noun.Id),
  /** The SHA-256 of the secret (`k1`), which is kept nowhere. */
  secretHash: SecretHash.SecretHash,
  status: Status,
  /** The withdrawal that it became when it was claimed. */
  withdrawalId: Schema.NullOr(Noun.Id),
  /** Against whose limits it counts: nobody's any more once it was voided, and its withdrawal's once it was claimed. */
  counted: Schema.NullOr(Limit.Noted),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Voucher extends Schema.Schema.Type<typeof Voucher> {}

/** The voucher is `status` already, and stays so. */
export class VoucherNotOpen extends Schema.TaggedError<VoucherNotOpen>()("VoucherNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

export const noun = Noun.make("vouchers", Voucher, {
  moving: ["status", "withdrawalId", "counted", "updatedAtMillis"],
  unique: [["secretHash"]],
  refused: (id, status) => new VoucherNotOpen({ id, status })
})

/** A wallet cannot claim it like this. `message` is for its user: what was wrong, and what would be right. */
export class VoucherRefused extends Schema.TaggedError<VoucherRefused>()("VoucherRefused", {
  code: Schema.Literals(["not_found", "claimed", "expired", "canceled", "invoice", "too_many", "stopped"]),
  message: Schema.String
}) {}

/** Its life: from open to one of three ends. */
export const life = {
  claimed: Noun.move(noun, "claimed", {
    from: ["open"],
    to: "claimed",
    sets: ["withdrawalId"],
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["claimed"], same: ["withdrawalId"] }
  }),
  // Voided before, in whichever way, it stays as it is.
  expired: Noun.move(noun, "expired", {
    from: ["open"],
    to: "expired",
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["expired", "canceled"] }
  }),
  canceled: Noun.move(noun, "canceled", {
    from: ["open"],
    to: "canceled",
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["expired", "canceled"] }
  })
}

type Inserted = Noun.InsertOf<typeof noun>

export interface VoucherCreated extends Written<
  "VoucherCreated",
  readonly [Inserted],
  "money" | "limits" | "freeze" | "fees" | "once",
  "voucher.created"
> {}
/** Applies while it is open. Its hold is the withdrawal's from here on: no posting, so the money is held at every moment. */
export interface VoucherClaimed extends Written<
  "VoucherClaimed",
  readonly [Noun.TransitionOf<typeof life.claimed>, Noun.InsertOf<typeof Withdrawal.noun>],
  "freeze",
  "voucher.claimed"
> {}
/** Applies while it is open; voided before, in whichever way, it stays as it is. */
export interface VoucherExpired extends Written<
  "VoucherExpired",
  readonly [Noun.TransitionOf<typeof life.expired>],
  "credit" | "fence",
  "voucher.expired"
> {}
/** The same, by its owner. */
export interface VoucherCanceled extends Written<
  "VoucherCanceled",
  readonly [Noun.TransitionOf<typeof life.canceled>],
  "credit",
  "voucher.canceled"
> {}

/** One that nothing has become of yet. What may be null in a voucher is null where it is not given. */
export const open = (
  asked: Pick<
    Voucher,
    | "id"
    | "companyId"
    | "ledgerTxId"
    | "amount"
    | "serviceFee"
    | "networkAllowance"
    | "description"
    | "metadata"
    | "secretHash"
    | "createdAtMillis"
    | "expiresAtMillis"
  > &
    Partial<Pick<Voucher, "rate" | "rateAtMillis" | "refundId" | "counted">>
): Voucher => ({
  rate: null,
  rateAtMillis: null,
  refundId: null,
  counted: null,
  ...asked,
  status: "open",
  withdrawalId: null,
  updatedAtMillis: asked.createdAtMillis
})

/** The job of voiding an unclaimed voucher: due when it expires. */
export const taskKind = "voucher"

/** The whole fee on top of the amount. */
export const fee = ({ serviceFee, networkAllowance }: Voucher): Msat.Msat => Fee.total({ service: serviceFee, network: networkAllowance })

/** What is held while it is open. */
export const held = (voucher: Voucher): Msat.Msat => Msat.sum(voucher.amount, fee(voucher))

/** Where a wallet asks. The secret is in the query, which logs of paths do not show. */
export const urlOf = (domain: string, k1: string): string => `${originOf(domain)}/lnurlw?k1=${k1}`

/** Where a wallet sends its invoice. */
export const callbackOf = (domain: string): string => `${originOf(domain)}/lnurlw/callback`

const parts = ({ id, companyId, ledgerTxId }: Voucher, atMillis: number) => ({ id, companyId, atMillis, transferId: ledgerTxId })

/** Amount and fee leave `available` and wait in `held`, until it is claimed or voided. */
export const created = (
  voucher: Voucher,
  once?: Change.Once,
  counts: ReadonlyArray<Limit.Count> = [],
  feesRevision?: number
): VoucherCreated => ({
  _tag: "VoucherCreated",
  unlessFrozen: true,
  ...parts(voucher, voucher.createdAtMillis),
  legs: [{ companyId: voucher.companyId, postings: [{ from: "available", to: "held", amount: held(voucher) }] }],
  writes: [Noun.insert(noun, voucher)],
  jobs: [Change.enqueue({ kind: taskKind, id: voucher.id, dueAtMillis: voucher.expiresAtMillis })],
  event: { type: "voucher.created", subject: voucher.id },
  ...(once && { once }),
  ...(counts.length > 0 && { counts }),
  ...(feesRevision !== undefined && { feesRevision })
})

/** It becomes a withdrawal to this invoice, which is sent like any other: should that fail, its hold is voided, and the voucher stays claimed. */
export const claimed = (
  voucher: Voucher,
  to: Pick<Withdrawal.Withdrawal, "id" | "recipient" | "network">,
  atMillis: number
): VoucherClaimed => ({
  _tag: "VoucherClaimed",
  unlessFrozen: true,
  ...parts(voucher, atMillis),
  legs: [],
  writes: [
    Noun.step(life.claimed, voucher, { withdrawalId: to.id }),
    Noun.insert(
      Withdrawal.noun,
      Withdrawal.pending({
        ...to,
        companyId: voucher.companyId,
        ledgerTxId: voucher.ledgerTxId,
        amount: voucher.amount,
        serviceFee: voucher.serviceFee,
        networkAllowance: voucher.networkAllowance,
        recipientType: "lightning_invoice",
        rail: "lightning",
        metadata: voucher.metadata,
        rate: voucher.rate,
        rateAtMillis: voucher.rateAtMillis,
        refundId: voucher.refundId,
        counted: voucher.counted,
        createdAtMillis: atMillis
      })
    )
  ],
  jobs: [
    Change.complete(voucher.id),
    Change.enqueue({ kind: Withdrawal.taskKind, id: to.id, dueAtMillis: atMillis }),
    ...refundEnds(voucher, atMillis)
  ],
  event: { type: "voucher.claimed", subject: voucher.id }
})

const voided = (voucher: Voucher, atMillis: number) => ({
  ...parts(voucher, atMillis),
  ...Limit.returned(voucher.counted),
  legs: [{ companyId: voucher.companyId, postings: [{ from: "held", to: "available", amount: held(voucher) }] as const }],
  jobs: [Change.complete(voucher.id), ...refundEnds(voucher, atMillis)]
})

/** Not claimed in time: everything is available again. */
export const expired = (voucher: Voucher, fence: Change.Fence, atMillis: number): VoucherExpired => ({
  _tag: "VoucherExpired",
  ...voided(voucher, atMillis),
  writes: [Noun.step(life.expired, voucher, {})],
  fence,
  event: { type: "voucher.expired", subject: voucher.id }
})

/** Not claimed, and no longer claimable: everything is available again. */
export const canceled = (voucher: Voucher, atMillis: number): VoucherCanceled => ({
  _tag: "VoucherCanceled",
  ...voided(voucher, atMillis),
  writes: [Noun.step(life.canceled, voucher, {})],
  event: { type: "voucher.canceled", subject: voucher.id }
})
