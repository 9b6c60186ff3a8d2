import { Context } from "effect"
import * as Throttle from "../base/Throttle.ts"

/**
 * How long an unreachable payee is retried, from a process's first attempt, before the withdrawal fails. Nothing has
 * been sent by then.
 */
export const resolveForMillis = 5 * 60_000

/**
 * An invoice that expires sooner than this is not paid. Payees who receive fiat, such as at Strike, issue invoices
 * for 30 to 60 seconds, and most payments arrive within seconds. One that arrives later fails.
 */
export const expiryMarginMillis = 10_000

/** Settings for sending and tracking payments. */
export class PaymentOptions extends Context.Service<
  PaymentOptions,
  {
    /**
     * Maximum number of payments that each process submits to the node at a time. Payments that the node has
     * accepted and that are only tracked do not count.
     */
    readonly paymentsAtOnce: number
    /**
     * Interval between lookups of a payment in flight: from `minimum` after it was sent, growing up to
     * `maximum`.
     */
    readonly trackMillis: { readonly minimum: number; readonly maximum: number }
    /**
     * Maximum number of concurrent requests from each process to payees' servers: in total, per company, and
     * per host. Requests for estimates and confirmations are counted separately from those of the worker, and not
     * per host.
     */
    readonly resolving: { readonly atOnce: number; readonly perCompany: number; readonly perHost: number }
    /**
     * Rate at which estimates may call payees' servers, counted per process: per company, and per host across
     * all companies.
     */
    readonly estimates: { readonly perCompany: Throttle.Rate; readonly perHost: Throttle.Rate }
    /**
     * The largest `min_final_cltv_expiry` we pay, in blocks. This limits how long a payee can lock our funds.
     */
    readonly maxFinalCltvExpiry: number
  }
>()("@satrail/core/sending/PaymentOptions") {}

export const defaults: PaymentOptions["Service"] = {
  paymentsAtOnce: 64,
  trackMillis: { minimum: 250, maximum: 10_000 },
  resolving: { atOnce: 128, perCompany: 16, perHost: 8 },
  estimates: { perCompany: Throttle.perMinute(120), perHost: Throttle.perMinute(600) },
  maxFinalCltvExpiry: 500
}
