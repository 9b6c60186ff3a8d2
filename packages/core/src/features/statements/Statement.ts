import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "../../ledger/Balance.ts"
import * as Booking from "../../reports/Booking.ts"
import type { LateTurnover, MonthSums } from "./StatementReads.ts"

/** A sum, and how many bookings it is of. */
export interface Total {
  readonly amount: Msat.Msat
  readonly count: number
}

/** What came in, went out and was charged. Every member is nothing or more. */
export interface Parts {
  readonly deposits: Total
  /** What an operator gave. */
  readonly credits: Total
  readonly withdrawals: Total
  /** What was credited, and taken back because the chain did not keep it. */
  readonly reversals: Total
  /** What an operator took. */
  readonly debits: Total
  readonly serviceFees: Msat.Msat
  readonly networkFees: Msat.Msat
}

/** What was booked late: into months that were closed by then. The times are those of the first and the last of it, null where there is none. */
export interface Late extends Parts {
  readonly firstMillis: number | null
  readonly lastMillis: number | null
}

/**
 * A company's month. `opening` and everything that came in, less everything that went out, less the fees, is `closing`, to the msat: `late` among it, which is not in
 * the other parts.
 */
export interface Statement extends Parts {
  readonly opening: Balance.Balance
  readonly late: Late
  readonly closing: Balance.Balance
}

const nothing: Total = { amount: Msat.zero, count: 0 }

const totalOf = (turnovers: ReadonlyArray<Booking.Turnover>): Total =>
  turnovers.reduce<Total>(({ amount, count }, one) => ({ amount: Msat.sum(amount, one.amount), count: count + one.count }), nothing)

const partsOf = (turnovers: ReadonlyArray<Booking.Turnover>): Parts => {
  const moving = turnovers.filter(Booking.moves)
  const ofKind = (kind: Booking.Kind) => moving.filter((one) => Booking.kindOf(one) === kind)
  const part = (name: ReturnType<typeof Booking.partOf>) => ofKind("withdrawal").filter((one) => Booking.partOf(one) === name)
  const gives = (one: Booking.Turnover) => Balance.effect([one]).posted > 0n
  return {
    deposits: totalOf(ofKind("deposit")),
    credits: totalOf(ofKind("adjustment").filter(gives)),
    withdrawals: totalOf(part("amount")),
    reversals: totalOf(ofKind("reversal")),
    debits: totalOf(ofKind("adjustment").filter((one) => !gives(one))),
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

/** What the ledger says of a month. 1000 at the beginning, a deposit of 500, a withdrawal of 200 with fees of 5 and 10: 1285 at the end. */
export const of = ({ before, within, late }: MonthSums): Statement => {
  const opening = Balance.effect(before)
  return { opening, ...partsOf(within), late: lateOf(late), closing: Balance.add(opening, Balance.effect([...within, ...late])) }
}

/** Of some parts, without any that are late. */
export const received = ({ deposits, credits }: Parts): Msat.Msat => Msat.sum(deposits.amount, credits.amount)
export const sent = ({ withdrawals, reversals, debits }: Parts): Msat.Msat => Msat.sum(withdrawals.amount, reversals.amount, debits.amount)
export const fees = ({ serviceFees, networkFees }: Parts): Msat.Msat => Msat.sum(serviceFees, networkFees)
export const bookings = ({ deposits, credits, withdrawals, reversals, debits }: Parts): number =>
  [deposits, credits, withdrawals, reversals, debits].reduce((sum, { count }) => sum + count, 0)

/** Of a whole statement, what was booked late among it. */
export const whole =
  (part: (parts: Parts) => Msat.Msat) =>
  (statement: Statement): Msat.Msat =>
    Msat.sum(part(statement), part(statement.late))

/** `2026-01`: from its first moment in UTC up to, and without, that of the month after it. Undefined for what is no month. */
export const monthOf = (text: string): Booking.Period | undefined => {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined) return undefined
  return { fromMillis: Date.UTC(Number(year), Number(month) - 1), untilMillis: Date.UTC(Number(year), Number(month)) }
}

/** How long after its end a month is open: a commit has the time at which it was decided, and arrives a little later. What takes longer is told as late. */
export const settlingMillis = 5 * 60_000

/** The first moment of the month that may not be closed yet: each before it is. */
export const closedUntil = (nowMillis: number): number => {
  const settled = new Date(nowMillis - settlingMillis)
  return Date.UTC(settled.getUTCFullYear(), settled.getUTCMonth())
}
