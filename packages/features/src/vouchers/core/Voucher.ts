import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as Fee from "@satrail/core/accounts/Fee"
import { originOf } from "@satrail/core/accounts/Installation"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Change from "@satrail/core/ledger/Change"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Written } from "@satrail/core/ledger/Written"
import * as Cause from "@satrail/core/sending/Cause"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Rated from "@satrail/core/base/Rated"

/**
 * `open`: can be claimed with its secret. `claimed`: final; the outcome is that of its withdrawal. `expired`
 * and `canceled`: final; the hold was voided.
 */
export const Status = Schema.Literals(["open", "claimed", "expired", "canceled"])
export type Status = typeof Status.Type

/**
 * Limits and default of a voucher's lifetime, in seconds. The maximum equals the time for which the response to
 * the voucher's creation is stored.
 */
export const expirySeconds = { minimum: 60, default: 86_400, maximum: 2_592_000 } as const

/**
 * Money held for the first wallet that claims it (LUD-03). `amount` is the amount that the claimer receives, in
 * msat. Fees are added to it, as for a withdrawal.
 */
export const Voucher = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The ledger transfer of the voucher's hold, and later of its withdrawal. */
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  serviceFee: Msat.Msat,
  networkAllowance: Msat.Msat,
  /** Description shown by wallets. */
  description: Schema.String,
  metadata: Metadata.Metadata,
  ...Rated.members,
  ...Cause.members,
  /** Id of the API key or person that created it; null if the host program did, or if it is older than this member. */
  createdBy: Schema.NullOr(Schema.String),
  /** SHA-256 of the secret (`k1`). The secret is not stored. */
  secretHash: SecretHash.SecretHash,
  status: Status,
  /** The withdrawal created when it was claimed. */
  withdrawalId: Schema.NullOr(Noun.Id),
  /**
   * The limits that the voucher counts against. Null once it is voided or claimed; after a claim, the
   * withdrawal counts instead.
   */
  counted: Schema.NullOr(Limit.Noted),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Voucher extends Schema.Schema.Type<typeof Voucher> {}

/** The voucher is no longer open; its final status is `status`. */
export class VoucherNotOpen extends Schema.TaggedError<VoucherNotOpen>()("VoucherNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

export const noun = Noun.make("vouchers", Voucher, {
  moving: ["status", "withdrawalId", "counted", "updatedAtMillis"],
  unique: [["secretHash"]],
  refused: (id, status) => new VoucherNotOpen({ id, status })
})

/** The claim is rejected. `message` describes the error to the wallet's user. */
export class VoucherRefused extends Schema.TaggedError<VoucherRefused>()("VoucherRefused", {
  code: Schema.Literals(["not_found", "claimed", "expired", "canceled", "invoice", "too_many", "stopped"]),
  message: Schema.String
}) {}

/** Transitions of a voucher, from open to one of three final statuses. */
export const life = {
  claimed: Noun.move(noun, "claimed", {
    from: ["open"],
    to: "claimed",
    sets: ["withdrawalId"],
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["claimed"], same: ["withdrawalId"] }
  }),
  // A voucher that has already expired or been canceled does not change.
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
    again: { in: ["canceled"] }
  })
}

type Inserted = Noun.InsertOf<typeof noun>

export interface VoucherCreated extends Written<
  "VoucherCreated",
  readonly [Inserted],
  "money" | "limits" | "freeze" | "fees" | "once",
  "voucher.created"
> {}
/**
 * Applies while the voucher is open. The withdrawal takes over the hold without a posting, so the money stays
 * held throughout.
 */
export interface VoucherClaimed extends Written<
  "VoucherClaimed",
  readonly [Noun.TransitionOf<typeof life.claimed>, Noun.InsertOf<typeof Withdrawal.noun>],
  "freeze",
  "voucher.claimed"
> {}
/** Applies while the voucher is open. A voided voucher does not change. */
export interface VoucherExpired extends Written<
  "VoucherExpired",
  readonly [Noun.TransitionOf<typeof life.expired>],
  "credit" | "fence",
  "voucher.expired"
> {}
/** Like `VoucherExpired`, but requested by the company. An expired voucher cannot be canceled. */
export interface VoucherCanceled extends Written<
  "VoucherCanceled",
  readonly [Noun.TransitionOf<typeof life.canceled>],
  "credit",
  "voucher.canceled"
> {}

/** Creates an open voucher. Nullable fields default to null. */
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
    Partial<Cause.Cause & Rated.Rated & Pick<Voucher, "createdBy" | "counted">>
): Voucher => ({
  ...Rated.none,
  ...Cause.none,
  createdBy: null,
  counted: null,
  ...asked,
  status: "open",
  withdrawalId: null,
  updatedAtMillis: asked.createdAtMillis
})

/** Kind of the job that voids an unclaimed voucher, due when the voucher expires. */
export const taskKind = "voucher"

/** Returns the total fee on top of the amount. */
export const fee = ({ serviceFee, networkAllowance }: Voucher): Msat.Msat =>
  Fee.total({ service: serviceFee, network: networkAllowance })

/** Returns the amount held while the voucher is open. */
export const held = (voucher: Voucher): Msat.Msat => Msat.sum(voucher.amount, fee(voucher))

/**
 * Returns the URL that a wallet requests. The secret is in the query, so that logs of request paths do not
 * contain it.
 */
export const urlOf = (domain: string, k1: string): string => `${originOf(domain)}/lnurlw?k1=${k1}`

/** Returns the unique name in the URL that a wallet requests. */
export const nameIn = (link: string): Pick<Voucher, "secretHash"> | undefined => {
  const [, k1] = /\/lnurlw\?k1=([0-9a-f]{64})\b/.exec(link) ?? []
  return k1 === undefined ? undefined : { secretHash: SecretHash.of(k1) }
}

/** Returns the URL to which a wallet sends its invoice. */
export const callbackOf = (domain: string): string => `${originOf(domain)}/lnurlw/callback`

const parts = ({ id, companyId, ledgerTxId }: Voucher, atMillis: number) => ({
  id,
  companyId,
  atMillis,
  transferId: ledgerTxId
})

/** Moves amount and fee from `available` to `held` until the voucher is claimed or voided. */
export const created = (
  voucher: Voucher,
  once?: Change.Once,
  counts: ReadonlyArray<Limit.Count> = [],
  feesRevision?: number
): VoucherCreated => ({
  _tag: "VoucherCreated",
  unlessFrozen: true,
  ...parts(voucher, voucher.createdAtMillis),
  legs: [
    { companyId: voucher.companyId, postings: [{ from: "available", to: "held", amount: held(voucher) }] }
  ],
  writes: [Noun.insert(noun, voucher)],
  jobs: [Change.enqueue({ kind: taskKind, id: voucher.id, dueAtMillis: voucher.expiresAtMillis })],
  event: { type: "voucher.created", subject: voucher.id },
  ...(once && { once }),
  ...(counts.length > 0 && { counts }),
  ...(feesRevision !== undefined && { feesRevision })
})

/**
 * Turns the voucher into a withdrawal to this invoice, which is sent like any other. If the withdrawal fails,
 * its hold is voided and the voucher stays claimed.
 */
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
        ...Rated.of(voucher),
        ...Cause.of(voucher),
        counted: voucher.counted,
        createdAtMillis: atMillis
      })
    )
  ],
  jobs: [
    Change.complete(voucher.id),
    Change.enqueue({ kind: Withdrawal.taskKind, id: to.id, dueAtMillis: atMillis }),
    ...Cause.jobs(voucher, atMillis)
  ],
  event: { type: "voucher.claimed", subject: voucher.id }
})

const voided = (voucher: Voucher, atMillis: number) => ({
  ...parts(voucher, atMillis),
  ...Limit.returned(voucher.counted),
  legs: [
    {
      companyId: voucher.companyId,
      postings: [{ from: "held", to: "available", amount: held(voucher) }] as const
    }
  ],
  jobs: [Change.complete(voucher.id), ...Cause.jobs(voucher, atMillis)]
})

/** Voids a voucher that was not claimed in time. Releases the full amount. */
export const expired = (voucher: Voucher, fence: Change.Fence, atMillis: number): VoucherExpired => ({
  _tag: "VoucherExpired",
  ...voided(voucher, atMillis),
  writes: [Noun.step(life.expired, voucher, {})],
  fence,
  event: { type: "voucher.expired", subject: voucher.id }
})

/** Cancels an unclaimed voucher. Releases the full amount. */
export const canceled = (voucher: Voucher, atMillis: number): VoucherCanceled => ({
  _tag: "VoucherCanceled",
  ...voided(voucher, atMillis),
  writes: [Noun.step(life.canceled, voucher, {})],
  event: { type: "voucher.canceled", subject: voucher.id }
})
