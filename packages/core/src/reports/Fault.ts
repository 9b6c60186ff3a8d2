import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Balance from "../ledger/Balance.ts"
import { type Account, accounts as allAccounts, type Posting } from "../ledger/Change.ts"
import type { SuspenseAssignment } from "../receiving/SuspenseAssignment.ts"
import type { Deposit } from "../receiving/Deposit.ts"
import type { Invoice, Unmatched } from "../receiving/Invoice.ts"
import { type Feature, held, recounted } from "../ledger/Feature.ts"
import type { Noun, Row } from "../ledger/Noun.ts"
import type { Posted } from "../ledger/Posts.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"

/**
 * Kinds of violations in a company's books. `posted` and `held`: a running total differs from the entries.
 * `holds`: the held amount differs from the total held by pending withdrawals and open vouchers. `below_zero`:
 * a balance is negative. `transfer`: the postings differ from their record, or there is no record. `credit`: a
 * settled invoice does not have exactly one deposit of the amount received. `proof`: a preimage does not hash
 * to its payment hash. `unreadable`: the company's row or its books are malformed. Every other kind means that a stored sum of a feature's records (`Feature.KeptSum`)
 * differs from their actual sum.
 */
const own = ["posted", "held", "holds", "below_zero", "transfer", "credit", "proof", "unreadable"] as const
export const kinds = (features: ReadonlyArray<Feature>): ReadonlyArray<string> => [
  ...own,
  ...features.flatMap(({ keptSums = [] }) => keptSums.map(({ fault }) => fault))
]
type Own = (typeof own)[number]

/** A violation, with the expected and actual amount. */
export interface Fault {
  readonly kind: Own | (string & {})
  /** The company, transfer or record. */
  readonly id: string
  /** The account, for a transfer. */
  readonly account: Account | null
  readonly expected: Msat.Msat | null
  readonly found: Msat.Msat | null
}

/**
 * Accounts whose postings are determined by records. A transfer's other postings follow from these, because a
 * transfer sums to zero.
 */
export const accounts = allAccounts.filter((account) => account !== "network_fees" && account !== "loss")

/** The amount that a feature's record holds. */
export type Holding = ReturnType<typeof held>

/** Returns the amounts held by the records of all features. `records` returns the records of one type. */
export const holding = (
  features: ReadonlyArray<Feature>,
  records: (noun: Noun) => ReadonlyArray<Row>
): ReadonlyArray<Holding> =>
  features
    .flatMap(({ holds = [] }) => holds.flatMap((hold) => records(hold.noun).map((row) => held(hold, row))))
    .filter(({ isHolding }) => isHolding)

/** A stored sum of a feature's records, with its expected and actual amount. */
export type Recounted = ReturnType<typeof recounted>[number]

/** Returns a company's stored sums. `records` returns the records of one type that it may read. */
export const recounts = (
  features: ReadonlyArray<Feature>,
  companyId: CompanyId.CompanyId,
  records: (noun: Noun) => ReadonlyArray<Row>
): ReadonlyArray<Recounted> =>
  features.flatMap(({ keptSums = [] }) => keptSums.flatMap((sum) => recounted(sum, companyId, records)))

/** All data of one company. */
export interface Books {
  readonly companyId: CompanyId.CompanyId
  readonly totals: Balance.Balance
  readonly entries: ReadonlyArray<Posting & { readonly transferId: string }>
  readonly withdrawals: ReadonlyArray<Withdrawal.Withdrawal>
  /** Amounts held by features' records; see `holding`. */
  readonly holding: ReadonlyArray<Holding>
  readonly deposits: ReadonlyArray<Deposit>
  /** Stored sums of features' records; see `recounts`. */
  readonly recounts: ReadonlyArray<Recounted>
  readonly invoices: ReadonlyArray<Invoice>
  readonly unmatched: ReadonlyArray<Unmatched>
  /** Assignments of payments in suspense that refer to the company's invoices. */
  readonly assignments: ReadonlyArray<SuspenseAssignment>
  /** Postings made by features' records. */
  readonly posted: ReadonlyArray<Posted>
  /** Returns whether one of our withdrawals paid this hash internally. */
  readonly isPaidInside: (paymentHash: PaymentHash.PaymentHash) => boolean
}

type Booked = Partial<Record<Account, bigint>>

const ofWithdrawal = (one: Withdrawal.Withdrawal): Booked => {
  const whole = Withdrawal.held(one)
  switch (one.status) {
    case "pending":
      return { available: -whole, held: whole }
    case "failed":
      return {}
    case "settled": {
      const through =
        one.dispatchedAtMillis === null ? "internal" : one.rail === "lightning" ? "node" : "chain"
      return {
        available: -whole,
        service_fees: one.serviceFee,
        [through]: one.amount + (one.networkFee ?? 0n)
      }
    }
  }
}

const ofDeposit = (one: Deposit, books: Books): Booked => {
  // A reversal debits at most the company's available balance. The part that the operator bears remains
  // credited.
  if (one.status !== "settled") return { available: one.absorbed }
  if (one.chainTxId !== null) return { available: one.amount, chain: -one.amount }
  const invoice = books.invoices.find(({ id }) => id === one.lightningInvoiceId)
  const isFromInside = invoice === undefined || books.isPaidInside(invoice.paymentHash)
  return { available: one.amount, [isFromInside ? "internal" : "node"]: -one.amount }
}

const said = (books: Books): ReadonlyArray<readonly [transferId: string, booked: Booked]> => [
  ...books.withdrawals.map((one) => [one.ledgerTxId, ofWithdrawal(one)] as const),
  ...books.holding.map(
    ({ transferId, amount }) => [transferId, { available: -amount, held: amount }] as const
  ),
  ...books.deposits.map((one) => [one.ledgerTxId, ofDeposit(one, books)] as const),
  ...books.unmatched.map((one) => [one.id, { node: -one.received, suspense: one.received }] as const),
  ...books.assignments.map(
    (one) => [one.ledgerTxId, { suspense: -one.amount, internal: one.amount }] as const
  ),
  ...books.posted.map(
    ({ transferId, amount, from }) => [transferId, { available: amount, [from]: -amount }] as const
  )
]

const transfers = (books: Books): ReadonlyArray<Fault> => {
  const sums = new Map<
    string,
    { readonly expected: Map<Account, bigint>; readonly found: Map<Account, bigint> }
  >()
  const at = (id: string) => {
    const sum = sums.get(id) ?? { expected: new Map<Account, bigint>(), found: new Map<Account, bigint>() }
    sums.set(id, sum)
    return sum
  }
  const add = (to: Map<Account, bigint>, account: Account, amount: bigint) =>
    to.set(account, (to.get(account) ?? 0n) + amount)
  for (const { transferId, from, to, amount } of books.entries) {
    add(at(transferId).found, from, -amount)
    add(at(transferId).found, to, amount)
  }
  for (const [id, booked] of said(books))
    for (const account of accounts) add(at(id).expected, account, booked[account] ?? 0n)
  return Array.from(sums).flatMap(([id, { expected, found }]) =>
    accounts.flatMap((account): ReadonlyArray<Fault> => {
      const [wanted, is] = [Msat.make(expected.get(account) ?? 0n), Msat.make(found.get(account) ?? 0n)]
      return wanted === is ? [] : [{ kind: "transfer", id, account, expected: wanted, found: is }]
    })
  )
}

const credits = ({ deposits, invoices }: Books): ReadonlyArray<Fault> =>
  invoices.flatMap(({ id, status, received }): ReadonlyArray<Fault> => {
    const found = deposits
      .filter(({ lightningInvoiceId }) => lightningInvoiceId === id)
      .map(({ amount }) => amount)
    const isRight = status === "settled" ? found.length === 1 && found[0] === received : found.length === 0
    return isRight
      ? []
      : [{ kind: "credit", id, account: null, expected: received, found: Msat.sum(...found) }]
  })

const sums = ({ recounts }: Books): ReadonlyArray<Fault> =>
  recounts.flatMap(({ fault, id, expected, found }): ReadonlyArray<Fault> =>
    expected === found ? [] : [{ kind: fault, id, account: null, expected, found }]
  )

const proofs = ({ withdrawals, invoices }: Books): ReadonlyArray<Fault> =>
  [...withdrawals, ...invoices].flatMap(({ id, status, amount, preimage, ...one }): ReadonlyArray<Fault> => {
    const paymentHash = "reportedHash" in one ? Withdrawal.hashOf(one) : one.paymentHash
    const isProven =
      status !== "settled" ||
      paymentHash === null ||
      (preimage !== null && Preimage.proves(preimage, paymentHash))
    return isProven ? [] : [{ kind: "proof", id, account: null, expected: amount, found: null }]
  })

/** Returns the violations in one company's books. A sound ledger has none. */
export const of = (books: Books): ReadonlyArray<Fault> => {
  const { companyId: id, totals } = books
  const entries = Balance.effect(books.entries)
  const pending = Msat.sum(
    ...books.withdrawals.filter(({ status }) => status === "pending").map(Withdrawal.held),
    ...books.holding.map(({ amount }) => amount)
  )
  const compare = (kind: Own, expected: Msat.Msat, found: Msat.Msat): ReadonlyArray<Fault> =>
    expected === found ? [] : [{ kind, id, account: null, expected, found }]
  const least = Msat.make(Balance.available(totals) < totals.held ? Balance.available(totals) : totals.held)
  return [
    ...compare("posted", entries.posted, totals.posted),
    ...compare("held", entries.held, totals.held),
    ...compare("holds", pending, totals.held),
    ...(least < 0n ? compare("below_zero", Msat.zero, least) : []),
    ...transfers(books),
    ...credits(books),
    ...sums(books),
    ...proofs(books)
  ]
}
