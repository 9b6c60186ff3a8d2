import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Rated from "@satrail/core/base/Rated"
import type * as Change from "@satrail/core/ledger/Change"
import type * as Limit from "@satrail/core/ledger/Limit"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Written } from "@satrail/core/ledger/Written"

/**
 * Money that one company sent to another company of this service, in the ledger only. It is never pending, and there
 * is no fee. Both companies can read it.
 */
export const Transfer = Schema.Struct({
  /** Contains the time of `createdAtMillis`, so that ids order a company's transfers by time. */
  id: Noun.Id,
  /** The company that sent it. */
  companyId: CompanyId.CompanyId,
  /** The company that received it. */
  recipientId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  /** In msat, and more than 0. */
  amount: Msat.Msat,
  /** Part of the amount that the recipient has returned, in msat. */
  returned: Msat.Msat,
  /** The transfer that this one returns, or a part of it; null if it is not a return. */
  returnOf: Schema.NullOr(Noun.Id),
  /** Amount of that transfer that had been returned before, in msat; null if it is not a return. */
  returnedBefore: Schema.NullOr(Msat.Msat),
  /** The deposit of which this transfer is a share; null if it is not a share. */
  depositId: Schema.NullOr(Noun.Id),
  description: Schema.String,
  metadata: Metadata.Metadata,
  ...Rated.members,
  createdAtMillis: Schema.Int
})
export interface Transfer extends Schema.Schema.Type<typeof Transfer> {}

/** Another return of the same transfer was committed first. */
export class TransferMoved extends Schema.TaggedError<TransferMoved>()("TransferMoved", {
  id: Schema.String
}) {}

/** The return exceeds what is left of the transfer. */
export class ReturnTooLarge extends Schema.TaggedError<ReturnTooLarge>()("ReturnTooLarge", {
  id: Schema.String,
  /** The amount that can still be returned. */
  left: Msat.Msat
}) {}

export const noun = Noun.make("transfers", Transfer, {
  moving: ["returned"],
  sharedWith: "recipientId",
  // Each return states what was returned before, so two concurrent returns cannot both count the same rest.
  // A deposit has one share for each payee.
  unique: [
    ["returnOf", "returnedBefore"],
    ["depositId", "recipientId"]
  ],
  taken: ({ id }) => new TransferMoved({ id })
})

/** Adds to the returned part of a transfer. */
const returnedMore = Noun.add(noun, "returned")

type Inserted = Noun.InsertOf<typeof noun>

export interface TransferSent extends Written<
  "TransferSent",
  readonly [Inserted],
  "money" | "limits" | "freeze" | "once",
  "transfer.sent" | "transfer.received"
> {}
/** Applies if no other return of the transfer was committed first. */
export interface TransferReturned extends Written<
  "TransferReturned",
  readonly [Inserted, Noun.Add],
  "money" | "limits" | "freeze" | "once",
  "transfer.returned"
> {}

type Asked = Pick<
  Transfer,
  | "id"
  | "companyId"
  | "recipientId"
  | "ledgerTxId"
  | "amount"
  | "description"
  | "metadata"
  | "createdAtMillis"
> &
  Partial<Rated.Rated & Pick<Transfer, "returnOf" | "returnedBefore" | "depositId">>

/** Makes a transfer. Nullable fields default to null. */
export const of = (asked: Asked): Transfer => ({
  ...Rated.none,
  returnOf: null,
  returnedBefore: null,
  depositId: null,
  ...asked,
  returned: Msat.zero
})

/** Returns the amount that can still be returned: of 1000 with 300 returned, 700. */
export const left = ({ amount, returned }: Transfer): Msat.Msat => Msat.make(amount - returned)

const parts = (transfer: Transfer, once: Change.Once | undefined, counts: ReadonlyArray<Limit.Count>) => {
  const { id, companyId, recipientId, ledgerTxId, amount, createdAtMillis } = transfer
  return {
    unlessFrozen: true,
    id,
    companyId,
    atMillis: createdAtMillis,
    transferId: ledgerTxId,
    legs: [
      { companyId, postings: [{ from: "available", to: "transfers", amount }] },
      { companyId: recipientId, postings: [{ from: "transfers", to: "available", amount }] }
    ],
    ...(once && { once }),
    ...(counts.length > 0 && { counts })
  } as const
}

/**
 * Moves the amount from one company's `available` to the other's, in one commit: 1000 leaves the sender and 1000 reaches
 * the recipient. Refused while the sender is frozen, and if its balance or a limit is too small.
 */
export const sent = (
  transfer: Transfer,
  once?: Change.Once,
  counts: ReadonlyArray<Limit.Count> = []
): TransferSent => ({
  _tag: "TransferSent",
  ...parts(transfer, once, counts),
  writes: [Noun.insert(noun, transfer)],
  event: { type: "transfer.sent", subject: transfer.id },
  eventsForOthers: [{ companyId: transfer.recipientId, type: "transfer.received", subject: transfer.id }]
})

/** Moves an amount back to the company that sent `original`, and adds it to the returned part of `original`. */
export const returned = (
  original: Pick<Transfer, "id" | "companyId">,
  transfer: Transfer,
  once?: Change.Once,
  counts: ReadonlyArray<Limit.Count> = []
): TransferReturned => ({
  _tag: "TransferReturned",
  ...parts(transfer, once, counts),
  writes: [Noun.insert(noun, transfer), returnedMore(original.companyId, original.id, transfer.amount)],
  event: { type: "transfer.returned", subject: transfer.id },
  eventsForOthers: [{ companyId: original.companyId, type: "transfer.returned", subject: transfer.id }]
})
