import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import * as Amount from "../base/Amount.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Decimal from "../base/Decimal.ts"
import type { Metadata } from "../base/Metadata.ts"
import * as Balance from "../ledger/Balance.ts"
import type { Account, Posting } from "../ledger/Change.ts"
import type { ListedRail } from "../ledger/Rail.ts"
import type { References } from "../receiving/Purpose.ts"
import type { Cause } from "../sending/Cause.ts"
import type { Rated } from "../base/Rated.ts"

/** A company's posting in the ledger. The ids of a company's postings follow the order of commits. */
export interface Entry extends Posting {
  readonly id: bigint
  readonly transferId: string
  readonly atMillis: number
}

/** Total and number of all postings between two accounts. */
export interface Turnover extends Posting {
  readonly count: number
}

export interface Posted extends Posting {
  readonly atMillis: number
}

/** Total of all postings between two accounts in one interval. */
export interface Turned extends Posting {
  readonly step: number
}

/** A period of time, including `fromMillis` and excluding `untilMillis`. */
export interface Period {
  readonly fromMillis: number
  readonly untilMillis: number
}

/**
 * Totals of a company's ledger from one snapshot: before a period and within it, with the id of the last entry.
 */
export interface Sums {
  readonly last: bigint
  readonly before: ReadonlyArray<Turnover>
  readonly within: ReadonlyArray<Turnover>
}

/** Selects a company's entries in a period, after the entry `after` and up to the entry `upTo`. */
export interface Query extends Period {
  readonly companyId: CompanyId.CompanyId
  readonly after: bigint
  readonly upTo: bigint
  readonly limit: number
}

/**
 * Entries that change a company's total funds, ordered by id. `lookedTo` is the position up to which the ledger
 * was read, or null if nothing is left to read.
 */
export interface Found {
  readonly entries: ReadonlyArray<Entry>
  readonly lookedTo: bigint | null
}

/**
 * Kind of a booking. A `deposit` was received, a `reversal` took a deposit back after a reorganization, a
 * `withdrawal` was sent with its fees, a `transfer` was posted between two companies, and an `adjustment` is
 * anything else.
 */
export const Kind = Schema.Literals(["deposit", "reversal", "withdrawal", "adjustment", "transfer"])
export type Kind = typeof Kind.Type

/**
 * A change in a company's total funds. `amount` and both fees are in msat, positive for money received and
 * negative for money sent.
 */
export interface Booking {
  readonly kind: Kind
  readonly transferId: string
  readonly atMillis: number
  readonly amount: Msat.Msat
  readonly serviceFee: Msat.Msat
  readonly networkFee: Msat.Msat
}

/** Details of a booking's record. Null means unknown. */
export interface Subject extends References, Cause, Rated {
  readonly transferId: string
  /** A transfer's `type` is that of its record (`Posts.type`). */
  readonly type: string
  /** The amount of a transfer, which tells apart several with one transfer id; null for other bookings. */
  readonly amount: Msat.Msat | null
  readonly id: string
  readonly rail: ListedRail
  readonly recipient: string
  readonly paymentHash: string | null
  readonly chainTxId: string | null
  /** The invoice paid by a deposit. */
  readonly invoiceId: string | null
  readonly metadata: Metadata
}

/** Returns the kind of record that a booking belongs to; undefined for an adjustment. */
const subjectTypeOf = (kind: Kind): string | undefined =>
  kind === "adjustment" ? undefined : kind === "reversal" ? "deposit" : kind

/**
 * Returns the key by which a booking finds its subject. If a company pays itself, one transfer has both a deposit and
 * a withdrawal, and a deposit can have several transfers.
 */
export const keyOf = (booking: Pick<Booking, "kind" | "transferId" | "amount">): string | undefined => {
  const type = subjectTypeOf(booking.kind)
  return (
    type &&
    keyOfSubject({
      type,
      transferId: booking.transferId,
      amount: booking.kind === "transfer" ? booking.amount : null
    })
  )
}
export const keyOfSubject = ({
  type,
  transferId,
  amount
}: Pick<Subject, "type" | "transferId" | "amount">): string =>
  `${amount === null ? type : amount} ${transferId}`

/** Returns a booking's total, including fees. */
export const total = ({ amount, serviceFee, networkFee }: Booking): Msat.Msat =>
  Msat.sum(amount, serviceFee, networkFee)

const owned = (account: Account): boolean => account === "available" || account === "held"
const outside = (account: Account): boolean =>
  account === "node" || account === "chain" || account === "internal"

/** Returns whether a posting changes its company's total funds. A hold does not change them. */
export const moves = ({ from, to }: Pick<Posting, "from" | "to">): boolean => owned(from) !== owned(to)

/**
 * Returns the kind of booking that a posting belongs to. Withdrawals are paid from `held`, reversals from
 * `available`, to `loss` if the operator bore them at first.
 */
export const kindOf = ({ from, to }: Pick<Posting, "from" | "to">): Kind => {
  if (from === "transfers" || to === "transfers") return "transfer"
  if (owned(to)) return outside(from) ? "deposit" : "adjustment"
  if (from === "held" && (outside(to) || to === "service_fees" || to === "network_fees")) return "withdrawal"
  return to === "chain" || (from === "available" && to === "loss") ? "reversal" : "adjustment"
}

/** Returns which part of its booking a posting represents. */
export const partOf = (posting: Pick<Posting, "from" | "to">): "amount" | "serviceFee" | "networkFee" => {
  if (kindOf(posting) !== "withdrawal") return "amount"
  return posting.to === "service_fees"
    ? "serviceFee"
    : posting.to === "network_fees"
      ? "networkFee"
      : "amount"
}

const bookingOf = (entry: Entry): Booking => ({
  kind: kindOf(entry),
  transferId: entry.transferId,
  atMillis: entry.atMillis,
  amount: Msat.zero,
  serviceFee: Msat.zero,
  networkFee: Msat.zero,
  [partOf(entry)]: Balance.effect([entry]).posted
})

/** A withdrawal's amount and fees are consecutive postings. Every other booking is one posting. */
const continues = (booking: Booking, next: Booking): boolean =>
  booking.kind === "withdrawal" && next.kind === "withdrawal" && booking.transferId === next.transferId

const together = (a: Booking, b: Booking): Booking => ({
  ...a,
  amount: Msat.sum(a.amount, b.amount),
  serviceFee: Msat.sum(a.serviceFee, b.serviceFee),
  networkFee: Msat.sum(a.networkFee, b.networkFee)
})

/**
 * Combines entries into bookings, in order. The last booking is returned as `open`, because the next page of
 * entries may continue it.
 */
export const fold = (
  open: Booking | undefined,
  entries: ReadonlyArray<Entry>
): { readonly closed: ReadonlyArray<Booking>; readonly open: Booking | undefined } => {
  const closed: Array<Booking> = []
  let last = open
  for (const entry of entries) {
    if (!moves(entry)) continue
    const next = bookingOf(entry)
    if (last !== undefined && continues(last, next)) {
      last = together(last, next)
      continue
    }
    if (last !== undefined) closed.push(last)
    last = next
  }
  return { closed, open: last }
}

// One bitcoin, in msat.
const bitcoin = 100_000_000_000n

/**
 * Returns the value of an amount at a rate, with this number of decimals, rounded half away from zero. For example,
 * 1563 sats at a rate of 64,000 are worth 1.00.
 */
export const fiatValue = (
  amount: Msat.Msat,
  { digits, scale }: { readonly digits: bigint; readonly scale: number },
  decimals = 2
): string => {
  const size = amount < 0n ? -amount : amount
  const [dividend, divisor] = [size * digits * 10n ** BigInt(decimals), bitcoin * 10n ** BigInt(scale)]
  const units = ((2n * dividend + divisor) / (2n * divisor)).toString().padStart(decimals + 1, "0")
  const whole = units.slice(0, units.length - decimals)
  const fraction = decimals === 0 ? "" : `.${units.slice(-decimals)}`
  return `${amount < 0n && /[1-9]/.test(units) ? "-" : ""}${whole}${fraction}`
}

/**
 * Returns the value of an amount at a record's rate, with the decimals of its currency, or with two if the currency is
 * unknown. Null if the record has no rate.
 */
export const valueAt = (
  amount: Msat.Msat,
  { rate, fiatCurrency }: Pick<Rated, "rate" | "fiatCurrency">
): string | null => {
  const decimal = rate === null ? undefined : Result.getOrUndefined(Decimal.parse(rate))
  return decimal === undefined
    ? null
    : fiatValue(amount, decimal, fiatCurrency === null ? 2 : Amount.decimals(fiatCurrency))
}
