import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Refund from "@satrail/features/refunds/core/Refund"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { output, past, withdrawal } from "../../Fixtures.ts"
import { voucher } from "../vouchers/Fixtures.ts"

/** Creates a credited deposit of a company. */
export const credited = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  const row = yield* output(companyId, sats)
  const journal = yield* Journal
  yield* journal.commit(Deposit.seen(row))
  const change = Deposit.confirmed(row, row.createdAtMillis + 1)
  yield* journal.commit(change)
  return Deposit.after(change)
})

const refundOf = Effect.fnUntraced(function* (
  deposit: Deposit.Deposit,
  sats: number,
  fields: Partial<Refund.Refund> = {}
): Effect.fn.Return<Refund.Refund> {
  const createdAtMillis = yield* past
  return {
    id: yield* Id.make,
    companyId: deposit.companyId,
    depositId: deposit.id,
    amount: Msat.fromSats(sats),
    rate: "64000.5",
    rateAtMillis: createdAtMillis,
    fiatCurrency: "eur",
    rateSource: "Kraken",
    description: "too much",
    metadata: { ticket: "9" },
    status: "open",
    voucherId: null,
    withdrawalId: null,
    checkoutId: null,
    sealedLink: null,
    createdBy: null,
    createdAtMillis,
    updatedAtMillis: createdAtMillis,
    ...fields
  }
})

/** Refunds this many sats of a deposit by a link. */
export const byLink = Effect.fnUntraced(function* (
  deposit: Deposit.Deposit,
  sats: number,
  fields?: Partial<Refund.Refund>
) {
  const refund = yield* refundOf(deposit, sats, fields)
  const { createdAtMillis } = refund
  const paidBy = yield* voucher(deposit.companyId, sats, {
    createdAtMillis,
    expiresAtMillis: createdAtMillis + 1000,
    refundId: refund.id
  })
  return {
    change: Refund.created({ ...refund, voucherId: paidBy.id }, deposit, Voucher.created(paidBy)),
    voucher: paidBy
  }
})

/** Refunds this many sats of a deposit to a destination. */
export const byPayment = Effect.fnUntraced(function* (deposit: Deposit.Deposit, sats: number) {
  const refund = yield* refundOf(deposit, sats)
  const paidBy = yield* withdrawal(deposit.companyId, sats, {
    createdAtMillis: refund.createdAtMillis,
    refundId: refund.id
  })
  const row: Refund.Refund = { ...refund, status: "pending", withdrawalId: paidBy.id }
  return { change: Refund.created(row, deposit, Withdrawal.requested(paidBy)), withdrawal: paidBy }
})
