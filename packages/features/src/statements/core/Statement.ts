import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Booking from "@satrail/core/reports/Booking"
import type { LateTurnover, MonthSums } from "./StatementReads.ts"

/** A total in msat, and the number of bookings that it covers. */
export interface Total {
  readonly amount: Msat.Msat
  readonly count: number
}

/** Money received, sent and charged. No field is negative. */
export interface Parts {
  readonly deposits: Total
  /** Credited by operators. */
  readonly credits: Total
  /** Received from other companies of the service. */
  readonly transfersIn: Total
  readonly withdrawals: Total
  /** Credits reversed after a reorganization. */
  readonly reversals: Total
  /** Debited by operators. */
  readonly debits: Total
  /** Sent to other companies of the service. */
  readonly transfersOut: Total
  readonly serviceFees: Msat.Msat
  readonly networkFees: Msat.Msat
}

/**
 * Late entries, dated in months that were already closed. The times are those of the earliest and the latest
 * entry, or null if there are no late entries.
 */
export interface Late extends Parts {
  readonly firstMillis: number | null
  readonly lastMillis: number | null
}

/**
 * A company's month. `opening` plus all receipts, minus all payments and fees, equals `closing` to the msat.
 * The equation includes `late`, which is not part of the other fields.
 */
export interface Statement extends Parts {
  readonly opening: Balance.Balance
  readonly late: Late
  readonly closing: Balance.Balance
}

const nothing: Total = { amount: Msat.zero, count: 0 }

const totalOf = (turnovers: ReadonlyArray<Booking.Turnover>): Total =>
  turnovers.reduce<Total>(
    ({ amount, count }, one) => ({ amount: Msat.sum(amount, one.amount), count: count + one.count }),
    nothing
  )

const partsOf = (turnovers: ReadonlyArray<Booking.Turnover>): Parts => {
  const moving = turnovers.filter(Booking.moves)
  const ofKind = (kind: Booking.Kind) => moving.filter((one) => Booking.kindOf(one) === kind)
  const part = (name: ReturnType<typeof Booking.partOf>) =>
    ofKind("withdrawal").filter((one) => Booking.partOf(one) === name)
  const gives = (one: Booking.Turnover) => Balance.effect([one]).posted > 0n
  const takes = (one: Booking.Turnover) => !gives(one)
  return {
    deposits: totalOf(ofKind("deposit")),
    credits: totalOf(ofKind("adjustment").filter(gives)),
    transfersIn: totalOf(ofKind("transfer").filter(gives)),
    withdrawals: totalOf(part("amount")),
    reversals: totalOf(ofKind("reversal")),
    debits: totalOf(ofKind("adjustment").filter(takes)),
    transfersOut: totalOf(ofKind("transfer").filter(takes)),
    serviceFees: totalOf(part("serviceFee")).amount,
    networkFees: totalOf(part("networkFee")).amount
  }
}

const lateOf = (turnovers: ReadonlyArray<LateTurnover>): Late => {
  const moving = turnovers.filter(Booking.moves)
  const isAny = moving.length > 0
  return {
    ...partsOf(moving),
    firstMillis: isAny ? Math.min(...moving.map(({ firstMillis }) => firstMillis)) : null,
    lastMillis: isAny ? Math.max(...moving.map(({ lastMillis }) => lastMillis)) : null
  }
}

/**
 * Computes a month's statement from the ledger. For example, an opening balance of 1000, a deposit of 500, and
 * a withdrawal of 200 with fees of 5 and 10 give a closing balance of 1285.
 */
export const of = ({ before, within, late }: MonthSums): Statement => {
  const opening = Balance.effect(before)
  return {
    opening,
    ...partsOf(within),
    late: lateOf(late),
    closing: Balance.add(opening, Balance.effect([...within, ...late]))
  }
}

/** Totals of the given parts, without late entries. */
export const received = ({ deposits, credits, transfersIn }: Parts): Msat.Msat =>
  Msat.sum(deposits.amount, credits.amount, transfersIn.amount)
export const sent = ({ withdrawals, reversals, debits, transfersOut }: Parts): Msat.Msat =>
  Msat.sum(withdrawals.amount, reversals.amount, debits.amount, transfersOut.amount)
export const fees = ({ serviceFees, networkFees }: Parts): Msat.Msat => Msat.sum(serviceFees, networkFees)
export const bookings = (parts: Parts): number =>
  [
    parts.deposits,
    parts.credits,
    parts.transfersIn,
    parts.withdrawals,
    parts.reversals,
    parts.debits,
    parts.transfersOut
  ].reduce((sum, { count }) => sum + count, 0)

/** Applies one of the functions above to a whole statement, including its late entries. */
export const whole =
  (part: (parts: Parts) => Msat.Msat) =>
  (statement: Statement): Msat.Msat =>
    Msat.sum(part(statement), part(statement.late))

/**
 * Parses a month such as `2026-01` into its period in UTC, with an exclusive end. Returns undefined if the text
 * is not a month.
 */
export const monthOf = (text: string): Booking.Period | undefined => {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined) return undefined
  return {
    fromMillis: Date.UTC(Number(year), Number(month) - 1),
    untilMillis: Date.UTC(Number(year), Number(month))
  }
}

/**
 * Time for which a month stays open after its end, because an entry is committed slightly later than its own
 * timestamp. Entries committed after that are reported as late.
 */
export const settlingMillis = 5 * 60_000

/** Returns the start of the first month that cannot be closed yet. All earlier months can be closed. */
export const closedUntil = (nowMillis: number): number => {
  const settled = new Date(nowMillis - settlingMillis)
  return Date.UTC(settled.getUTCFullYear(), settled.getUTCMonth())
}
