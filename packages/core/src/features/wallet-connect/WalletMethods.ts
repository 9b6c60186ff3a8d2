import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { AccountReads } from "../../accounts/AccountReads.ts"
import * as ApiKey from "../../accounts/ApiKey.ts"
import { Installation } from "../../accounts/Installation.ts"
import * as Limits from "../../accounts/Limits.ts"
import { available } from "../../ledger/Balance.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import * as Limit from "../../ledger/Limit.ts"
import type { Position } from "../../ledger/Page.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import type { Transaction } from "../../reports/Transaction.ts"
import { Transactions } from "../../reports/Transactions.ts"
import * as Destination from "../../sending/Destination.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as WalletInvoices from "./WalletInvoices.ts"
import * as WalletNotices from "./WalletNotices.ts"
import * as WalletPayments from "./WalletPayments.ts"
import { type Call, paramsOf, refuse, type WalletRefused } from "./WalletRefused.ts"
import * as WalletView from "./WalletView.ts"

/**
 * Default and maximum number of transactions in a response, which must fit into an event that relays accept.
 */
export const listed = { default: 10, maximum: 20 } as const

/** Maximum offset of a list. Older transactions are available over HTTP. */
export const maxOffset = 500

/** Maximum number of pages read for a response. It is enough for the largest offset, however large the metadata. */
const maxPages = 10

const LookedUp = Schema.Struct({
  payment_hash: Schema.optionalKey(Schema.String),
  invoice: Schema.optionalKey(Schema.String)
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Listed = Schema.Struct({
  from: Schema.optionalKey(Count),
  until: Schema.optionalKey(Count),
  limit: Schema.optionalKey(Count),
  offset: Schema.optionalKey(Count),
  type: Schema.optionalKey(Schema.Literals(["incoming", "outgoing"]))
})

type Answer = Effect.Effect<unknown, WalletRefused | StoreUnavailable>

type Named = Pick<Transaction, "companyId" | "id" | "type">

/** A method, with the scope that the key must have. */
export interface Method {
  /** Null if every key may use it. */
  readonly scope: ApiKey.Scope | null
  readonly answer: (call: Call) => Answer
}

/** All methods, as listed in the info event. A method that the key may not use returns an error. */
export const names = [
  "pay_invoice",
  "make_invoice",
  "make_hold_invoice",
  "settle_hold_invoice",
  "cancel_hold_invoice",
  "lookup_invoice",
  "list_transactions",
  "get_balance",
  "get_budget",
  "get_info"
] as const
type Name = (typeof names)[number]

/** Implements the methods for apps. */
export const make = Effect.gen(function* () {
  const { network } = yield* Installation
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const accounts = yield* AccountReads
  const transactions = yield* Transactions
  const { makeInvoice, makeHoldInvoice, settleHoldInvoice, cancelHoldInvoice } = yield* WalletInvoices.make
  const { payInvoice } = yield* WalletPayments.make

  /** Looks up a company's payment, incoming or outgoing, by its hash. */
  const lookUp = Effect.fnUntraced(function* (call: Call) {
    const { payment_hash: hash, invoice } = yield* paramsOf(call, LookedUp)
    const { id: apiKeyId, companyId } = call.holder.apiKey
    const decoded = invoice === undefined ? undefined : Destination.invoiceIn(invoice)
    const text = hash ?? (decoded !== undefined && Result.isSuccess(decoded) ? decoded.success.paymentHash : "")
    if (!/^[0-9a-fA-F]{64}$/.test(text))
      return yield* refuse("OTHER", "A payment_hash (64 hex characters) or a BOLT 11 invoice is required.")
    const paymentHash = PaymentHash.make(text.toLowerCase())
    const came = Option.filter(yield* receiving.invoiceByHash(paymentHash), (row) => row.companyId === companyId)
    if (Option.isSome(came)) return WalletView.incoming(came.value, apiKeyId, yield* Clock.currentTimeMillis)
    const went = Option.filter(yield* sending.withdrawalByHash(paymentHash), (row) => row.companyId === companyId)
    const shown = Option.isSome(went) ? WalletView.outgoing(went.value) : undefined
    return shown ?? (yield* refuse("NOT_FOUND", "No invoice or payment has this payment hash."))
  })

  const shown = Effect.fnUntraced(function* ({ companyId, id, type }: Named, apiKeyId: string, nowMillis: number) {
    if (type === "withdrawal") {
      const found = yield* sending.withdrawal(companyId, id)
      return Option.isSome(found) ? WalletView.outgoing(found.value) : undefined
    }
    const deposit = Option.getOrUndefined(yield* receiving.deposit(companyId, id))
    const invoiceId = deposit?.lightningInvoiceId ?? null
    const found = invoiceId === null ? Option.none() : yield* receiving.invoice(companyId, invoiceId)
    return Option.isSome(found) ? WalletView.incoming(found.value, apiKeyId, nowMillis) : undefined
  })

  const list = Effect.fnUntraced(function* (call: Call) {
    const { from, until, limit = listed.default, offset: skipped = 0, type } = yield* paramsOf(call, Listed)
    if (skipped > maxOffset) return yield* refuse("OTHER", `offset must be at most ${maxOffset}. Narrow the range with from and until.`)
    const size = Math.min(limit, listed.maximum)
    const { id: apiKeyId, companyId } = call.holder.apiKey
    const asked = {
      rail: "lightning",
      ...(type === "incoming" ? { type: "deposit" as const } : type === "outgoing" ? { type: "withdrawal" as const } : {}),
      // Both bounds are inclusive, in whole seconds.
      ...(from !== undefined && { createdAfterMillis: from * 1000 - 1 }),
      ...(until !== undefined && { createdBeforeMillis: (until + 1) * 1000 })
    } as const
    const rows: Array<Named> = []
    let after: Position | undefined
    for (let pages = 0; pages < maxPages && rows.length < skipped + size; pages++) {
      const page = transactions.list(companyId, { ...asked, limit: skipped + size - rows.length, ...(after && { after }) })
      const found = yield* Effect.catchTag(page, "Invalid", ({ message }) => refuse("OTHER", message))
      // Their metadata is not kept.
      rows.push(...found.rows.map(({ id, type }) => ({ companyId, id, type })))
      after = found.next
      if (after === undefined) break
    }
    const nowMillis = yield* Clock.currentTimeMillis
    const all = yield* Effect.forEach(rows.slice(skipped), (row) => shown(row, apiKeyId, nowMillis), { concurrency: 5 })
    return { transactions: WalletView.fitting(all.filter((one) => one !== undefined)) }
  })

  /**
   * Returns the key's daily or monthly limit, whichever leaves less to spend. Both are sliding windows, so
   * there is no `renews_at`. Returns nothing if the key has neither.
   */
  const budget = Effect.fnUntraced(function* ({ holder: { apiKey } }: Call) {
    if (apiKey.limits === null) return {}
    const { day_sats, month_sats } = Limits.mostOf(apiKey.limits)
    const spent = yield* accounts.spent(apiKey.companyId, Limits.countedAs(apiKey))
    const nowMillis = yield* Clock.currentTimeMillis
    const budgetOf = (name: "day_sats" | "month_sats", period: string, most: bigint | undefined) =>
      most === undefined ? [] : [{ most, left: Limit.left(spent, name, most, nowMillis), period }]
    const [tightest] = [...budgetOf("day_sats", "daily", day_sats), ...budgetOf("month_sats", "monthly", month_sats)].toSorted((a, b) =>
      a.left < b.left ? -1 : 1
    )
    if (tightest === undefined) return {}
    const { most, left, period } = tightest
    return { used_budget: Number(most - left), total_budget: Number(most), renewal_period: period }
  })

  const methods: { readonly [name in Name]: Method } = {
    pay_invoice: { scope: "send", answer: payInvoice },
    make_invoice: { scope: "receive", answer: makeInvoice },
    make_hold_invoice: { scope: "receive", answer: makeHoldInvoice },
    settle_hold_invoice: { scope: "receive", answer: settleHoldInvoice },
    cancel_hold_invoice: { scope: "receive", answer: cancelHoldInvoice },
    lookup_invoice: { scope: "read", answer: lookUp },
    list_transactions: { scope: "read", answer: list },
    get_balance: {
      scope: "read",
      answer: ({ holder }) => Effect.map(ledger.balance(holder.apiKey.companyId), (balance) => ({ balance: Number(available(balance)) }))
    },
    get_budget: { scope: null, answer: budget },
    get_info: {
      scope: null,
      answer: ({ holder }) =>
        Effect.succeed({
          alias: "satrail",
          network,
          methods: Object.entries(methods).flatMap(([name, { scope }]) =>
            scope === null || ApiKey.allows(holder.apiKey, scope) ? [name] : []
          ),
          notifications: ApiKey.allows(holder.apiKey, "read") ? WalletNotices.types : []
        })
    }
  }

  return new Map<string, Method>(Object.entries(methods))
})
