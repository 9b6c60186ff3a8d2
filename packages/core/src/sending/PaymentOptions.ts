import { Context } from "effect"
import * as Throttle from "../base/Throttle.ts"

/** How payments are tried and followed. */
export class PaymentOptions extends Context.Service<
  PaymentOptions,
  {
    /** How many payments each process is handing to the node at once. One that the node has taken on and that is only watched is none of them. */
    readonly paymentsAtOnce: number
    /** How often a payment on its way is looked up: soon after it was sent, then less and less often, up to `maximum`. */
    readonly trackMillis: { readonly minimum: number; readonly maximum: number }
    /** How many requests each process makes at once to recipients' servers: in all, for one company, and to one host. */
    readonly resolving: { readonly atOnce: number; readonly perCompany: number; readonly perHost: number }
    /** How often estimates may ask recipients' servers, by each process's own count: for one company, and at one host for all of them together. */
    readonly estimates: { readonly perCompany: Throttle.Rate; readonly perHost: Throttle.Rate }
    /** How long an unreachable recipient is tried before the withdrawal fails. Nothing was sent by then. */
    readonly resolveForMillis: number
    /** An invoice that expires sooner than this is not paid any more. */
    readonly expiryMarginMillis: number
    /** The largest `min_final_cltv_expiry` we pay: how many blocks a recipient may hold our money. */
    readonly maxFinalCltvExpiry: number
  }
>()("@satrail/core/sending/PaymentOptions") {}

export const defaults: PaymentOptions["Service"] = {
  paymentsAtOnce: 64,
  trackMillis: { minimum: 250, maximum: 10_000 },
  resolving: { atOnce: 128, perCompany: 16, perHost: 8 },
  estimates: { perCompany: Throttle.perMinute(120), perHost: Throttle.perMinute(600) },
  resolveForMillis: 5 * 60_000,
  expiryMarginMillis: 60_000,
  maxFinalCltvExpiry: 500
}
