import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { rateOf } from "@satrail/core/ledger/Feature"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Booking from "@satrail/core/reports/Booking"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Option } from "effect"
import type * as Posts from "@satrail/core/ledger/Posts"
import * as Posted from "./Posted.ts"
import * as State from "./State.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as Cause from "@satrail/core/sending/Cause"
import * as Rated from "@satrail/core/base/Rated"

/** Returns a company's entries, oldest first. */
export const all = (state: State.State, companyId: CompanyId.CompanyId): ReadonlyArray<Booking.Entry> =>
  Array.from(State.listed(state.entries, companyId))
    .toReversed()
    .map((entry, index) => ({ ...entry, id: BigInt(index + 1) }))

/** Sums all postings between each pair of accounts. */
export const turnovers = (entries: ReadonlyArray<Booking.Entry>): ReadonlyArray<Booking.Turnover> => {
  const sums = new Map<string, Booking.Turnover>()
  for (const { from, to, amount } of entries) {
    const known = sums.get(`${from} ${to}`)
    sums.set(`${from} ${to}`, {
      from,
      to,
      amount: Msat.sum(amount, known?.amount ?? Msat.zero),
      count: (known?.count ?? 0) + 1
    })
  }
  return [...sums.values()]
}

/** Sums the entries before a period and within it. */
export const sums = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  { fromMillis, untilMillis }: Booking.Period
): Booking.Sums => {
  const entries = all(state, companyId).filter(({ atMillis }) => atMillis < untilMillis)
  return {
    last: entries.at(-1)?.id ?? 0n,
    before: turnovers(entries.filter(({ atMillis }) => atMillis < fromMillis)),
    within: turnovers(entries.filter(({ atMillis }) => atMillis >= fromMillis))
  }
}

/** Sums the entries between each boundary and the next. */
export const turnedSince = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  boundaries: ReadonlyArray<number>
): ReadonlyArray<Booking.Turned> =>
  boundaries.flatMap((fromMillis, step) => {
    const untilMillis = boundaries[step + 1] ?? Infinity
    const within = all(state, companyId).filter(
      ({ atMillis }) => atMillis >= fromMillis && atMillis < untilMillis
    )
    return turnovers(within).map(({ from, to, amount }) => ({ step, from, to, amount }))
  })

/** Returns a page of the entries that change a company's balance. */
export const entries = (state: State.State, query: Booking.Query): Booking.Found => {
  const { companyId, after, upTo, fromMillis, untilMillis, limit } = query
  const found = all(state, companyId).filter(
    (entry) =>
      entry.id > after &&
      entry.id <= upTo &&
      entry.atMillis >= fromMillis &&
      entry.atMillis < untilMillis &&
      Booking.moves(entry)
  )
  const page = found.slice(0, limit)
  return { entries: page, lookedTo: found.length > limit ? (page.at(-1)?.id ?? null) : null }
}

const ofWithdrawal = (row: Withdrawal.Withdrawal): Booking.Subject => ({
  transferId: row.ledgerTxId,
  type: "withdrawal",
  amount: null,
  id: row.id,
  rail: row.rail,
  recipient: row.recipient,
  paymentHash: Withdrawal.hashOf(row),
  chainTxId: row.chainTxId,
  invoiceId: null,
  ...Purpose.noReferences,
  ...Cause.of(row),
  ...Rated.of(row),
  metadata: row.metadata
})

/** Returns the exchange rate of the record that a deposit pays, such as a checkout. */
const ratedBy = (state: State.State, row: Deposit.Deposit) => {
  for (const { noun, by } of state.features.flatMap(({ rates = [] }) => rates)) {
    const id: unknown = Reflect.get(row, by)
    const found = typeof id === "string" ? State.get(state, noun, row.companyId, id) : Option.none()
    if (Option.isSome(found)) return rateOf(found.value)
  }
  return undefined
}

const ofDeposit = (state: State.State, row: Deposit.Deposit): Booking.Subject => {
  const { companyId, lightningInvoiceId } = row
  const invoice =
    lightningInvoiceId === null
      ? null
      : Option.getOrNull(State.get(state, Invoice.noun, companyId, lightningInvoiceId))
  const rated = ratedBy(state, row)
  return {
    transferId: row.ledgerTxId,
    type: "deposit",
    amount: null,
    id: row.id,
    rail: row.rail,
    recipient: row.recipient,
    paymentHash: invoice?.paymentHash ?? null,
    chainTxId: row.chainTxId,
    invoiceId: lightningInvoiceId,
    ...Purpose.referencesOf(row),
    ...Cause.none,
    rate: invoice?.rate ?? rated?.rate ?? null,
    rateAtMillis: invoice?.rateAtMillis ?? rated?.rateAtMillis ?? null,
    fiatCurrency: invoice?.fiatCurrency ?? rated?.fiatCurrency ?? null,
    rateSource: invoice?.rateSource ?? rated?.rateSource ?? null,
    metadata: row.metadata
  }
}

const ofPosted = ({ transferId, type, amount, id, rail, recipient, metadata }: Posts.Posted) =>
  rail === null
    ? []
    : [
        {
          transferId,
          type,
          amount,
          id,
          rail,
          recipient,
          paymentHash: null,
          chainTxId: null,
          invoiceId: null,
          ...Purpose.noReferences,
          ...Cause.none,
          ...Rated.none,
          metadata
        }
      ]

/** Returns the records to which the transfers belong. */
export const subjects = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  transferIds: ReadonlyArray<string>
): ReadonlyArray<Booking.Subject> => {
  const asked = new Set(transferIds)
  const isAsked = ({ ledgerTxId }: { readonly ledgerTxId: string }) => asked.has(ledgerTxId)
  return [
    ...State.ownedBy(state, Withdrawal.noun, companyId).filter(isAsked).map(ofWithdrawal),
    ...State.ownedBy(state, Deposit.noun, companyId)
      .filter(isAsked)
      .map((row) => ofDeposit(state, row)),
    ...Posted.by(state, companyId)
      .filter(({ transferId }) => asked.has(transferId))
      .flatMap(ofPosted)
  ]
}
