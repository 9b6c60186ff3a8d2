import { Context, Effect, Layer } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import type { Position } from "../ledger/Page.ts"
import type * as Deposit from "../receiving/Deposit.ts"
import type { Callback } from "../receiving/Invoice.ts"
import * as Paid from "../receiving/Paid.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { SendingReads } from "../sending/SendingReads.ts"
import type { Withdrawal } from "../sending/Withdrawal.ts"
import { type Funds, ReportReads } from "./ReportReads.ts"
import * as Transaction from "./Transaction.ts"

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
    /** A page, newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Transaction.Query
    ) => Effect.Effect<
      { readonly transactions: ReadonlyArray<Transaction.Transaction>; readonly next: Position | undefined },
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
      const { maximum } = Transaction.limit
      if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > maximum) {
        return yield* new Invalid({ path: "limit", message: `A whole number from 1 to ${maximum}` })
      }
      // One more than requested shows whether there is another page, without counting.
      const found = yield* reports.transactions(companyId, { ...query, limit: query.limit + 1 })
      const transactions = found.slice(0, query.limit)
      const last = transactions.at(-1)
      return {
        transactions,
        next: found.length > query.limit && last !== undefined ? { createdAtMillis: last.createdAtMillis, id: last.id } : undefined
      }
    })
  })
})

export const layer = Layer.effect(Transactions, make)
