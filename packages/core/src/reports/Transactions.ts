import { Context, Effect, Layer } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import { NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import * as Page from "../ledger/Page.ts"
import type * as Deposit from "../receiving/Deposit.ts"
import type { Callback } from "../receiving/Invoice.ts"
import * as Paid from "../receiving/Paid.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { SendingReads } from "../sending/SendingReads.ts"
import type { Withdrawal } from "../sending/Withdrawal.ts"
import { type Funds, ReportReads } from "./ReportReads.ts"
import type * as Transaction from "./Transaction.ts"

/** What came in and went out. */
export class Transactions extends Context.Service<
  Transactions,
  {
    readonly balance: (companyId: CompanyId.CompanyId) => Effect.Effect<Funds, StoreUnavailable>
    readonly deposit: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Deposit.Shown, NotFound | StoreUnavailable>
    /** The payer data sent with the request for the invoice that was paid; undefined where no wallet requested it. */
    readonly callback: (
      companyId: CompanyId.CompanyId,
      depositId: string
    ) => Effect.Effect<Callback | undefined, NotFound | StoreUnavailable>
    readonly withdrawal: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Withdrawal, NotFound | StoreUnavailable>
    /**
     * A page, newest first; `next` is where the page after it starts, undefined when there is none. Of what is picked among very many, a page may have fewer than
     * `limit` rows, or none, and yet a `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Transaction.Query
    ) => Effect.Effect<
      { readonly transactions: ReadonlyArray<Transaction.Transaction>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
  }
>()("@satrail/core/reports/Transactions") {}

export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const reports = yield* ReportReads
  const sending = yield* SendingReads
  const metadataPaid = yield* Paid.make

  const deposit = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* receiving.deposit(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "deposit", id })
  })

  return Transactions.of({
    balance: reports.funds,
    deposit: Effect.fnUntraced(function* (companyId, id) {
      const found = yield* deposit(companyId, id)
      return { ...found, metadata: found.metadata ?? (yield* metadataPaid.ofDeposit(found)) }
    }),
    callback: Effect.fnUntraced(function* (companyId, id) {
      const { lightningInvoiceId } = yield* deposit(companyId, id)
      const invoice = lightningInvoiceId === null ? undefined : yield* receiving.invoice(companyId, lightningInvoiceId)
      return invoice?._tag === "Some" ? (invoice.value.callback ?? undefined) : undefined
    }),
    withdrawal: Effect.fnUntraced(function* (companyId, id) {
      const found = Id.is(id) ? yield* sending.withdrawal(companyId, id) : undefined
      return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "withdrawal", id })
    }),
    list: Effect.fnUntraced(function* (companyId, query) {
      if (query.label !== undefined) yield* Metadata.checkLabel(query.label)
      if (query.lightningInvoiceId !== undefined && !Id.is(query.lightningInvoiceId))
        return yield* new Invalid({ path: "lightning_invoice_id", message: "The id of an invoice" })
      const { rows, next } = yield* Page.pick(query.limit, (limit) => reports.search(companyId, { ...query, limit }, Page.looks))
      return { transactions: rows, next }
    })
  })
})

export const layer = Layer.effect(Transactions, make)
