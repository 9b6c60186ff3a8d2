import * as Msat from "@satrail/bitcoin/Msat"
import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Found, Position } from "@satrail/core/ledger/Page"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import type * as Posts from "@satrail/core/ledger/Posts"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import type { Query, Transaction } from "@satrail/core/reports/Transaction"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap, Option } from "effect"
import { newest, newestFirst } from "./Reading.ts"
import * as Posted from "./Posted.ts"
import * as State from "./State.ts"

// Reads pages of filtered lists.

/** Defaults for fields that are empty in most transactions. */
const none = { reason: null, metadata: Metadata.empty, failure: null, description: "" } as const

const fromDeposit = (deposit: Deposit.Deposit): Transaction => {
  const { id, companyId, amount, recipient, rail, status, metadata, createdAtMillis } = deposit
  return {
    ...none,
    id,
    companyId,
    amount,
    recipient,
    rail,
    type: "deposit",
    fee: Msat.zero,
    status,
    metadata,
    createdAtMillis
  }
}

const fromPosted = ({ from: _, transferId: _transfer, atMillis, ...posted }: Posts.Posted): Transaction => ({
  ...none,
  ...posted,
  fee: Msat.zero,
  status: "settled",
  createdAtMillis: atMillis
})

const fromWithdrawal = (withdrawal: Withdrawal.Withdrawal): Transaction => {
  const { id, companyId, amount, recipient, rail, metadata, failure, createdAtMillis } = withdrawal
  const status = Withdrawal.standing(withdrawal)
  return {
    ...none,
    id,
    companyId,
    amount,
    recipient,
    rail,
    type: "withdrawal",
    fee: Withdrawal.fee(withdrawal),
    status,
    metadata,
    failure,
    createdAtMillis
  }
}

const kinds: { readonly [type in Transaction["type"]]?: Noun.Noun } = {
  deposit: Deposit.noun,
  withdrawal: Withdrawal.noun
}

/** Returns the description of a transaction: that of its checkout, invoice or refund, or of a posting. */
const descriptionOf = (state: State.State, { id, companyId, type, description }: Transaction): string => {
  const kind = kinds[type]
  const payment = kind && Option.getOrUndefined(State.get(state, kind, companyId, id))
  if (kind === undefined || payment === undefined) return description
  for (const { noun, by, description: member } of Descriptions.of(state.features, kind)) {
    const subject = Descriptions.textOf(payment, by)
    const found = subject === null ? Option.none() : State.get(state, noun, companyId, subject)
    if (Option.isSome(found)) return Descriptions.textOf(found.value, member) ?? ""
  }
  return ""
}

/** Filters the first `looks` lines for up to `limit` matches, and returns where the scan stopped. */
const picked = <A extends Position>(
  lines: ReadonlyArray<A>,
  looks: number,
  limit: number,
  isPicked: (line: A) => boolean
): Found<A> => {
  const looked = lines.slice(0, looks)
  const rows = looked.filter(isPicked).slice(0, limit)
  const last = looked.at(-1)
  const stopped = rows.length < limit && lines.length > looked.length ? last : undefined
  return {
    rows,
    lookedTo: stopped === undefined ? null : { createdAtMillis: stopped.createdAtMillis, id: stopped.id }
  }
}

/** Returns the transactions that match, out of at most `looks`. */
export const transactions = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  query: Query,
  looks: number
): Found<Transaction> => {
  const { label, paymentHash, chainTxId, lightningInvoiceId } = query
  const hashOf = (id: string | null) =>
    id === null ? null : Option.getOrNull(State.get(state, Invoice.noun, companyId, id))?.paymentHash
  const isFound = (row: Deposit.Deposit | Withdrawal.Withdrawal) =>
    (label === undefined || Metadata.has(row.metadata, label)) &&
    (chainTxId === undefined || row.chainTxId === chainTxId) &&
    (paymentHash === undefined ||
      ("paymentHash" in row
        ? [row.paymentHash, row.reportedHash].includes(paymentHash)
        : hashOf(row.lightningInvoiceId) === paymentHash)) &&
    (lightningInvoiceId === undefined ||
      ("lightningInvoiceId" in row && row.lightningInvoiceId === lightningInvoiceId))
  // Postings are not payments, so omit them from a search for payments.
  const isOfPayment = [label, paymentHash, chainTxId, lightningInvoiceId].some((one) => one !== undefined)
  const lines = [
    ...(isOfPayment ? [] : Posted.by(state, companyId)).map(fromPosted),
    ...State.ownedBy(state, Deposit.noun, companyId).filter(isFound).map(fromDeposit),
    ...State.ownedBy(state, Withdrawal.noun, companyId).filter(isFound).map(fromWithdrawal)
  ]
    .filter(
      (one) =>
        (query.after === undefined || newest(query.after, one) < 0) &&
        (query.createdAfterMillis === undefined || query.createdAfterMillis < one.createdAtMillis) &&
        (query.createdBeforeMillis === undefined || query.createdBeforeMillis > one.createdAtMillis)
    )
    .toSorted(newest)
  const { rows, lookedTo } = picked(
    lines,
    looks,
    query.limit,
    (one) =>
      (query.type === undefined || query.type === one.type) &&
      (query.status === undefined || query.status === one.status) &&
      (query.rail === undefined || query.rail === one.rail)
  )
  return { rows: rows.map((row) => ({ ...row, description: descriptionOf(state, row) })), lookedTo }
}

/** Returns the invoices that match, out of at most `looks`. */
export const invoicesOf = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  query: Invoice.Query,
  looks: number
): Found<Invoice.Invoice> => {
  const { standing, lightningAddressId, label, paymentHash, createdAfterMillis, createdBeforeMillis } = query
  const lines = newestFirst(State.ownedBy(state, Invoice.noun, companyId), query.before, Infinity).filter(
    (one) =>
      (lightningAddressId === undefined || one.lightningAddressId === lightningAddressId) &&
      (label === undefined || Metadata.has(one.metadata, label)) &&
      (paymentHash === undefined || one.paymentHash === paymentHash) &&
      (createdAfterMillis === undefined || createdAfterMillis < one.createdAtMillis) &&
      (createdBeforeMillis === undefined || createdBeforeMillis > one.createdAtMillis)
  )
  return picked(
    lines,
    looks,
    query.limit,
    (one) => standing === undefined || Invoice.standing(one, query.atMillis) === standing
  )
}

/** Returns the companies that match, out of at most `looks`. */
export const companies = (state: State.State, query: Company.Query, looks: number): Found<Company.Company> =>
  picked(
    newestFirst(
      // A database has an index of frozen companies, so others don't count as looked at.
      HashMap.toValues(state.companies).filter(({ frozen }) => query.status === undefined || frozen !== null),
      query.before,
      Infinity
    ),
    looks,
    query.limit,
    (one) => Company.isAsked(one, query)
  )
