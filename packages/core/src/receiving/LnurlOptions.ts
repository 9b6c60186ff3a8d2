import { Context } from "effect"
import * as Throttle from "../base/Throttle.ts"

/** Maximum length of a payer's comment (LUD-12). */
export const commentCharacters = 280

/** Maximum size of payer data (LUD-18) as JSON, in bytes. */
export const payerDataBytes = 2048

/** Time after expiry at which an unpaid invoice for a wallet is closed at the node and deleted. */
export const forgetAfterMillis = 60_000

/** Settings of invoices that wallets request at Lightning addresses (LNURL). */
export class LnurlOptions extends Context.Service<
  LnurlOptions,
  {
    readonly lnurl: {
      /** Lifetime of an invoice requested by a wallet, in seconds. */
      readonly expirySeconds: number
      /** Maximum time that a wallet waits for an invoice. */
      readonly timeoutMillis: number
      /**
       * Maximum number of unpaid invoices for wallets that one process keeps: per caller, per address, per
       * company and in total. Above that, the oldest invoice of the largest holder is canceled at the node.
       */
      readonly openPerCaller: number
      readonly openPerAddress: number
      readonly openPerCompany: number
      readonly open: number
      /**
       * Rate at which invoices may be requested from each process: per address (shared by all callers) and per
       * caller. The rate per caller also applies to claiming vouchers.
       */
      readonly perAddress: Throttle.Rate
      readonly perCaller: Throttle.Rate
    }
  }
>()("@satrail/core/receiving/LnurlOptions") {}

export const defaults: LnurlOptions["Service"] = {
  lnurl: {
    expirySeconds: 600,
    timeoutMillis: 10_000,
    openPerCaller: 120,
    openPerAddress: 1200,
    openPerCompany: 2500,
    open: 10_000,
    perAddress: Throttle.perMinute(300),
    perCaller: Throttle.perMinute(60)
  }
}
