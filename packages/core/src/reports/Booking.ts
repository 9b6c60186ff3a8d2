import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Metadata } from "../base/Metadata.ts"
import * as Balance from "../ledger/Balance.ts"
import type { Account, Posting } from "../ledger/Change.ts"
import type { Rail } from "../ledger/Rail.ts"

/** One posting of a company, as it stands in the ledger. Ids grow in the order in which a company's postings were committed. */
export interface Entry extends Posting {
  readonly id: bigint
  readonly transferId: string
  readonly atMillis: number
}

/** What all postings between two accounts come to, and how many there are. */
export interface Turnover extends Posting {
  readonly count: number
}

/** From a time on, and before another one. */
export interface Period {
  readonly fromMillis: number
  readonly untilMillis: number
}

/** What the ledger has of a company, all of one moment: what was booked before a period and within it, and the last entry of all. */
export interface Sums {
  readonly last: bigint
  readonly before: ReadonlyArray<Turnover>
  readonly within: ReadonlyArray<Turnover>
}

/** Which entries of a company: of a period, after one and up to another. */
export interface Query extends Period {
  readonly companyId: CompanyId.CompanyId
  readonly after: bigint
  readonly upTo: bigint
  readonly limit: number
}

/** Entries that move what a company owns, by id, and how far was looked; null where nothing more is to come. */
export interface Found {
  readonly entries: ReadonlyArray<Entry>
  readonly lookedTo: bigint | null
}

/**
 * What was booked: a `deposit` came in, a `reversal` took one back that the chain did not keep, a `withdrawal` went out with its fees, and an `adjustment` is
 * anything else.
 */
export type Kind = "deposit" | "reversal" | "withdrawal" | "adjustment"

/** One thing that changed what a company owns. `amount` and both fees are more than nothing where they came in, less where they went out. */
export interface Booking {
  readonly kind: Kind
  readonly transferId: string
  readonly atMillis: number
  readonly amount: Msat.Msat
  readonly serviceFee: Msat.Msat
  readonly networkFee: Msat.Msat
}

/** What is known about the record that a booking is of. Everything is null that was never known. */
export interface Subject {
  readonly transferId: string
  readonly type: "deposit" | "withdrawal"
  readonly id: string
  readonly rail: Rail
  readonly recipient: string
  readonly paymentHash: string | null
  readonly chainTxId: string | null
  /** The invoice or checkout that was paid, the refund that it pays. */
  readonly invoiceId: string | null
  readonly checkoutId: string | null
  readonly refundId: string | null
  /** Fiat units for one bitcoin, where somebody gave an amount in fiat, and when that was the rate. */
  readonly rate: string | null
  readonly rateAtMillis: number | null
  /** Of a checkout; of others it is not kept. */
  readonly currency: string | null
  /** Null where an earlier version wrote the record: see `Paid`. */
  readonly metadata: Metadata | null
}

/** What a booking comes to, fees and all. */
export const total = ({ amount, serviceFee, networkFee }: Booking): Msat.Msat => Msat.sum(amount, serviceFee, networkFee)

const owned = (account: Account): boolean => account === "available" || account === "held"
const outside = (account: Account): boolean => account === "node" || account === "chain" || account === "internal"

/** Whether a posting changes what its company owns: holds do not. */
export const moves = ({ from, to }: Pick<Posting, "from" | "to">): boolean => owned(from) !== owned(to)

/** What kind of booking a posting belongs to. Withdrawals are paid out of what was held for them, reversals out of what is available. */
export const kindOf = ({ from, to }: Pick<Posting, "from" | "to">): Kind => {
  if (owned(to)) return outside(from) ? "deposit" : "adjustment"
  if (from === "held" && (outside(to) || to === "service_fees" || to === "network_fees")) return "withdrawal"
  return to === "chain" ? "reversal" : "adjustment"
}

/** Which part of a booking a posting is. */
export const partOf = (posting: Pick<Posting, "from" | "to">): "amount" | "serviceFee" | "networkFee" => {
  if (kindOf(posting) !== "withdrawal") return "amount"
  return posting.to === "service_fees" ? "serviceFee" : posting.to === "network_fees" ? "networkFee" : "amount"
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

/** Of a withdrawal, amount and fees are postings of their own, one after the other. Everything else is one posting. */
const continues = (booking: Booking, next: Booking): boolean =>
  booking.kind === "withdrawal" && next.kind === "withdrawal" && booking.transferId === next.transferId

const together = (a: Booking, b: Booking): Booking => ({
  ...a,
  amount: Msat.sum(a.amount, b.amount),
  serviceFee: Msat.sum(a.serviceFee, b.serviceFee),
  networkFee: Msat.sum(a.networkFee, b.networkFee)
})

/** The bookings that entries make, in their order. The last one is `open`: the next page of entries may go on with it. */
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

// Of a bitcoin, in msat.
const bitcoin = 100_000_000_000n

/** What an amount was worth at a rate, to two decimals, half away from nothing: 1563 sats at 64 000 are 1.00. */
export const fiatValue = (amount: Msat.Msat, { digits, scale }: { readonly digits: bigint; readonly scale: number }): string => {
  const [dividend, divisor] = [(amount < 0n ? -amount : amount) * digits * 100n, bitcoin * 10n ** BigInt(scale)]
  const cents = ((2n * dividend + divisor) / (2n * divisor)).toString().padStart(3, "0")
  return `${amount < 0n && /[1-9]/.test(cents) ? "-" : ""}${cents.slice(0, -2)}.${cents.slice(-2)}`
}
