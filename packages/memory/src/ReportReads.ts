import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Audit, Funds, ReportReads } from "@satrail/core/reports/ReportReads"
import type { Query, Transaction } from "@satrail/core/reports/Transaction"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Books from "./Books.ts"
import { compare, type Read } from "./Reading.ts"
import * as State from "./State.ts"

const fromDeposit = ({ id, companyId, amount, recipient, rail, status, createdAtMillis }: Deposit.Deposit): Transaction => ({
  id,
  companyId,
  amount,
  recipient,
  rail,
  type: "deposit",
  fee: Msat.zero,
  status,
  createdAtMillis
})

const fromWithdrawal = (withdrawal: Withdrawal.Withdrawal): Transaction => {
  const { id, companyId, amount, recipient, rail, status, createdAtMillis } = withdrawal
  return { id, companyId, amount, recipient, rail, type: "withdrawal", fee: Withdrawal.fee(withdrawal), status, createdAtMillis }
}

/** Newest first: negative when `a` comes before `b`. */
const newest = (a: Pick<Transaction, "createdAtMillis" | "id">, b: Pick<Transaction, "createdAtMillis" | "id">): number =>
  compare(b.createdAtMillis, a.createdAtMillis) || compare(b.id, a.id)

const transactions = (state: State.State, companyId: CompanyId.CompanyId, query: Query): ReadonlyArray<Transaction> =>
  [
    ...State.ownedBy(state, Deposit.noun, companyId).map(fromDeposit),
    ...State.ownedBy(state, Withdrawal.noun, companyId).map(fromWithdrawal)
  ]
    .filter(
      (one) =>
        (query.after === undefined || newest(query.after, one) < 0) &&
        (query.type === undefined || query.type === one.type) &&
        (query.status === undefined || query.status === one.status) &&
        (query.rail === undefined || query.rail === one.rail) &&
        (query.createdAfterMillis === undefined || query.createdAfterMillis < one.createdAtMillis) &&
        (query.createdBeforeMillis === undefined || query.createdBeforeMillis > one.createdAtMillis)
    )
    .toSorted(newest)
    .slice(0, query.limit)

const funds = (state: State.State, companyId: CompanyId.CompanyId): Funds => ({
  ...State.balanceOf(state, companyId),
  pendingDeposits: Msat.sum(
    ...State.ownedBy(state, Deposit.noun, companyId)
      .filter(({ status }) => status === "pending")
      .map(({ amount, absorbed }) => Msat.make(amount - absorbed))
  )
})

const recount = (state: State.State, companyId: CompanyId.CompanyId): Audit => ({
  totals: State.balanceOf(state, companyId),
  entries: Balance.effect(Array.from(State.listed(state.entries, companyId))),
  pending: Msat.sum(
    ...State.ownedBy(state, Withdrawal.noun, companyId)
      .filter(({ status }) => status === "pending")
      .map(Withdrawal.held),
    ...State.ownedBy(state, Voucher.noun, companyId)
      .filter(({ status }) => status === "open")
      .map(Voucher.held)
  )
})

export const make = (read: Read): ReportReads["Service"] => ({
  transactions: (companyId, query) => read((now) => transactions(now, companyId, query)),
  funds: (companyId) => read((now) => funds(now, companyId)),
  audit: (companyId) => read((now) => recount(now, companyId)),
  faults: (companyId) => read((now) => Books.faults(now, companyId))
})
