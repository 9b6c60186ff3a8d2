import { Context, Effect, Layer } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import { found, type NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import * as Page from "../ledger/Page.ts"
import type * as Deposit from "../receiving/Deposit.ts"
import type { Callback } from "../receiving/Invoice.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { SendingReads } from "../sending/SendingReads.ts"
import type { Withdrawal } from "../sending/Withdrawal.ts"
import { type Funds, ReportReads } from "./ReportReads.ts"
import type * as Transaction from "./Transaction.ts"

/** Lists incoming and outgoing payments. */
export class Transactions extends Context.Service<
  Transactions,
  {
    readonly balance: (companyId: CompanyId.CompanyId) => Effect.Effect<Funds, NotFound | StoreUnavailable>
    readonly deposit: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Deposit.Deposit, NotFound | StoreUnavailable>
    /**
     * Returns the wallet's request for the paid invoice, with the payer data. Returns undefined if no wallet
     * requested the invoice.
     */
    readonly callback: (
      companyId: CompanyId.CompanyId,
      depositId: string
    ) => Effect.Effect<Callback | undefined, NotFound | StoreUnavailable>
    readonly withdrawal: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Withdrawal, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first. `next` is the start of the following page, or undefined on the last one. If
     * a filter has to skip very many records, a page may have fewer than `limit` rows, or none, and still have
     * a `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Transaction.Query
    ) => Effect.Effect<Page.Page<Transaction.Transaction>, Invalid | StoreUnavailable>
  }
>()("@satrail/core/reports/Transactions") {}

export const make = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const receiving = yield* ReceivingReads
  const reports = yield* ReportReads
  const sending = yield* SendingReads

  const deposit = (companyId: CompanyId.CompanyId, id: string) =>
    found("deposit", id, receiving.deposit(companyId, id))

  return Transactions.of({
    balance: Effect.fnUntraced(function* (id) {
      const funds = yield* reports.funds(id)
      const isEmpty = funds.posted === 0n && funds.held === 0n && funds.pendingDeposits === 0n
      // Only companies that exist have funds, so only an empty balance needs a second read.
      if (isEmpty) yield* found("company", id, accounts.company(id))
      return funds
    }),
    deposit,
    callback: Effect.fnUntraced(function* (companyId, id) {
      const { lightningInvoiceId } = yield* deposit(companyId, id)
      const invoice =
        lightningInvoiceId === null ? undefined : yield* receiving.invoice(companyId, lightningInvoiceId)
      return invoice?._tag === "Some" ? (invoice.value.callback ?? undefined) : undefined
    }),
    withdrawal: (companyId, id) => found("withdrawal", id, sending.withdrawal(companyId, id)),
    list: Effect.fnUntraced(function* (companyId, query) {
      if (query.label !== undefined) yield* Metadata.checkLabel(query.label)
      if (query.lightningInvoiceId !== undefined && !Id.is(query.lightningInvoiceId))
        return yield* new Invalid({ path: "lightning_invoice_id", message: "must be the id of an invoice" })
      return yield* Page.pick(
        query.limit,
        (limit, after) => reports.search(companyId, { ...query, limit, ...(after && { after }) }, Page.looks),
        Page.ofMetadata
      )
    })
  })
})

export const layer = Layer.effect(Transactions, make)
