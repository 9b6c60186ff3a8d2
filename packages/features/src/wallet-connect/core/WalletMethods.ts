import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Installation } from "@satrail/core/accounts/Installation"
import * as Limits from "@satrail/core/accounts/Limits"
import { available } from "@satrail/core/ledger/Balance"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Limit from "@satrail/core/ledger/Limit"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Destination from "@satrail/core/sending/Destination"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as WalletInvoices from "./WalletInvoices.ts"
import * as WalletList from "./WalletList.ts"
import * as WalletNotices from "./WalletNotices.ts"
import * as WalletPayments from "./WalletPayments.ts"
import { type Call, paramsOf, refuse, type WalletRefused } from "./WalletRefused.ts"
import * as WalletView from "./WalletView.ts"

const LookedUp = Schema.Struct({
  payment_hash: Schema.optionalKey(Schema.String),
  invoice: Schema.optionalKey(Schema.String)
})

const None = Schema.Struct({})

type Answer = Effect.Effect<unknown, WalletRefused | StoreUnavailable>

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
  const list = yield* WalletList.make
  const { makeInvoice, makeHoldInvoice, settleHoldInvoice, cancelHoldInvoice } = yield* WalletInvoices.make
  const { payInvoice } = yield* WalletPayments.make

  /** Looks up a company's payment, incoming or outgoing, by its hash. */
  const lookUp = Effect.fnUntraced(function* (call: Call) {
    const { payment_hash: hash, invoice } = yield* paramsOf(call, LookedUp)
    const { id: apiKeyId, companyId } = call.holder.apiKey
    const decoded = invoice === undefined ? undefined : Destination.invoiceIn(invoice)
    const invoiced = decoded && (Result.isSuccess(decoded) ? decoded.success.paymentHash : "")
    const text = (hash ?? invoiced ?? "").toLowerCase()
    if (!/^[0-9a-f]{64}$/.test(text) || invoiced === "")
      return yield* refuse("OTHER", "A payment_hash (64 hex characters) or a BOLT 11 invoice is required.")
    if (invoiced !== undefined && invoiced !== text)
      return yield* refuse(
        "OTHER",
        "The invoice has another payment hash than payment_hash. Send one of them."
      )
    const paymentHash = PaymentHash.make(text)
    const came = Option.filter(
      yield* receiving.invoiceByHash(paymentHash),
      (row) => row.companyId === companyId
    )
    if (Option.isSome(came)) return WalletView.incoming(came.value, apiKeyId, yield* Clock.currentTimeMillis)
    const went = Option.filter(
      yield* sending.withdrawalByHash(paymentHash),
      (row) => row.companyId === companyId
    )
    const shown = Option.isSome(went) ? WalletView.outgoing(went.value) : undefined
    return shown ?? (yield* refuse("NOT_FOUND", "No invoice or payment has this payment hash."))
  })

  /**
   * Returns the key's daily or monthly limit, whichever leaves less to spend. Both are sliding windows, so
   * there is no `renews_at`. Returns nothing if the key has neither.
   */
  const budget = Effect.fnUntraced(function* (call: Call) {
    yield* paramsOf(call, None)
    const { apiKey } = call.holder
    if (apiKey.limits === null) return {}
    const { day_sats, month_sats } = Limits.mostOf(apiKey.limits)
    const spent = yield* accounts.spent(apiKey.companyId, Limits.countedAs(apiKey))
    const nowMillis = yield* Clock.currentTimeMillis
    const budgetOf = (name: "day_sats" | "month_sats", period: string, most: bigint | undefined) =>
      most === undefined ? [] : [{ most, left: Limit.left(spent, name, most, nowMillis), period }]
    const [tightest] = [
      ...budgetOf("day_sats", "daily", day_sats),
      ...budgetOf("month_sats", "monthly", month_sats)
    ].toSorted((a, b) => (a.left < b.left ? -1 : 1))
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
      answer: Effect.fnUntraced(function* (call) {
        yield* paramsOf(call, None)
        return { balance: Number(available(yield* ledger.balance(call.holder.apiKey.companyId))) }
      })
    },
    get_budget: { scope: null, answer: budget },
    get_info: {
      scope: null,
      answer: (call) =>
        Effect.map(paramsOf(call, None), () => ({
          alias: "satrail",
          network,
          methods: Object.entries(methods).flatMap(([name, { scope }]) =>
            scope === null || ApiKey.allows(call.holder.apiKey, scope) ? [name] : []
          ),
          notifications: ApiKey.allows(call.holder.apiKey, "read") ? WalletNotices.types : []
        }))
    }
  }

  return new Map<string, Method>(Object.entries(methods))
})
