import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Rail } from "@satrail/core/ledger/Rail"
import * as Tally from "@satrail/core/ledger/Tally"
import type * as Waiting from "@satrail/core/ledger/Waiting"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Fault from "@satrail/core/reports/Fault"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap, Option } from "effect"
import * as State from "./State.ts"

/** Counts everything each time: what is in memory is small. */
export const tally = (state: State.State): Tally.Tally => {
  let accounts = Tally.nothing
  for (const list of HashMap.values(state.entries)) {
    for (const { from, to, amount } of State.items(list)) {
      accounts = {
        ...accounts,
        [from]: { ...accounts[from], out: Msat.sum(accounts[from].out, amount) },
        [to]: { ...accounts[to], into: Msat.sum(accounts[to].into, amount) }
      }
    }
  }
  return { accounts, mark: "", counted: Tally.nothing }
}

const of = <A>(rows: ReadonlyArray<A>, atMillis: (row: A) => number, amount: (row: A) => Msat.Msat): Waiting.Waiting => ({
  count: rows.length,
  oldestAtMillis: rows.length === 0 ? null : Math.min(...rows.map(atMillis)),
  amount: Msat.sum(...rows.map(amount))
})

export const waiting = (state: State.State, overdueBeforeMillis: number): Waiting.All => {
  const withdrawals = State.all(state, Withdrawal.noun).filter(({ status }) => status === "pending")
  const deposits = State.all(state, Deposit.noun).filter(({ rail, status }) => rail === "on_chain" && status === "pending")
  const step = (rail: Rail, isDispatched: boolean) =>
    of(
      withdrawals.filter((one) => one.rail === rail && (one.dispatchedAtMillis !== null) === isDispatched),
      ({ createdAtMillis }) => createdAtMillis,
      Withdrawal.held
    )
  const seen = (isInBlock: boolean) =>
    of(
      deposits.filter(({ height }) => (height !== null) === isInBlock),
      ({ createdAtMillis }) => createdAtMillis,
      ({ amount }) => amount
    )
  return {
    withdrawal_requested: step("lightning", false),
    withdrawal_dispatched: step("lightning", true),
    payout_without_coins: step("on_chain", false),
    payout_without_block: step("on_chain", true),
    deposit_without_block: seen(false),
    deposit_unconfirmed: seen(true),
    voucher_open: of(
      State.all(state, Voucher.noun).filter(({ status }) => status === "open"),
      ({ createdAtMillis }) => createdAtMillis,
      Voucher.held
    ),
    task_overdue: of(
      Array.from(HashMap.values(state.tasks)).filter(({ dueAtMillis }) => dueAtMillis < overdueBeforeMillis),
      ({ dueAtMillis }) => dueAtMillis,
      () => Msat.zero
    )
  }
}

const maxFaults = 1000

export const faults = (state: State.State, companyId: CompanyId.CompanyId): ReadonlyArray<Fault.Fault> => {
  return Fault.of({
    companyId,
    totals: State.balanceOf(state, companyId),
    entries: Array.from(State.listed(state.entries, companyId)),
    withdrawals: State.ownedBy(state, Withdrawal.noun, companyId),
    vouchers: State.ownedBy(state, Voucher.noun, companyId),
    deposits: State.ownedBy(state, Deposit.noun, companyId),
    invoices: State.ownedBy(state, Invoice.noun, companyId),
    unmatched: State.ownedBy(state, Invoice.unmatchedNoun, companyId),
    isPaidInside: (paymentHash) =>
      Option.exists(State.named(state, Withdrawal.noun, { paymentHash }), ({ dispatchedAtMillis }) => dispatchedAtMillis === null)
  }).slice(0, maxFaults)
}
