import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "../ledger/Balance.ts"
import * as Booking from "./Booking.ts"

/** A sum, and how many bookings it is of. */
export interface Total {
  readonly amount: Msat.Msat
  readonly count: number
}

/**
 * A company's month, or any other period. `opening` and everything that came in, less everything that went out, less the fees, is `closing`, to the msat. Every
 * member is nothing or more.
 */
export interface Statement {
  readonly opening: Balance.Balance
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
  readonly closing: Balance.Balance
}

const nothing: Total = { amount: Msat.zero, count: 0 }

const totalOf = (turnovers: ReadonlyArray<Booking.Turnover>): Total =>
  turnovers.reduce<Total>(({ amount, count }, one) => ({ amount: Msat.sum(amount, one.amount), count: count + one.count }), nothing)

/** What the ledger says of a period. 1000 at the beginning, a deposit of 500, a withdrawal of 200 with fees of 5 and 10: 1285 at the end. */
export const of = ({ before, within }: Booking.Sums): Statement => {
  const moving = within.filter(Booking.moves)
  const ofKind = (kind: Booking.Kind) => moving.filter((one) => Booking.kindOf(one) === kind)
  const part = (name: ReturnType<typeof Booking.partOf>) => ofKind("withdrawal").filter((one) => Booking.partOf(one) === name)
  const gives = (one: Booking.Turnover) => Balance.effect([one]).posted > 0n
  const opening = Balance.effect(before)
  return {
    opening,
    deposits: totalOf(ofKind("deposit")),
    credits: totalOf(ofKind("adjustment").filter(gives)),
    withdrawals: totalOf(part("amount")),
    reversals: totalOf(ofKind("reversal")),
    debits: totalOf(ofKind("adjustment").filter((one) => !gives(one))),
    serviceFees: totalOf(part("serviceFee")).amount,
    networkFees: totalOf(part("networkFee")).amount,
    closing: Balance.add(opening, Balance.effect(within))
  }
}

export const received = ({ deposits, credits }: Statement): Msat.Msat => Msat.sum(deposits.amount, credits.amount)
export const sent = ({ withdrawals, reversals, debits }: Statement): Msat.Msat =>
  Msat.sum(withdrawals.amount, reversals.amount, debits.amount)
export const fees = ({ serviceFees, networkFees }: Statement): Msat.Msat => Msat.sum(serviceFees, networkFees)

/** `2026-01`: from its first moment in UTC up to, and without, that of the month after it. Undefined for what is no month. */
export const monthOf = (text: string): Booking.Period | undefined => {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined) return undefined
  return { fromMillis: Date.UTC(Number(year), Number(month) - 1), untilMillis: Date.UTC(Number(year), Number(month)) }
}

/** How long after its end a period is open: a commit has the time at which it was decided, and arrives a little later. */
export const settlingMillis = 5 * 60_000

/**
 * Whether a period is taken as closed. No store refuses what arrives later: a process that was suspended for longer than `settlingMillis` between deciding and
 * committing (a frozen virtual machine) still books into it when it goes on.
 */
export const isFinal = ({ untilMillis }: Booking.Period, nowMillis: number): boolean => nowMillis >= untilMillis + settlingMillis
