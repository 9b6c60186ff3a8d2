import { Context } from "effect"
import * as Throttle from "../base/Throttle.ts"

/** What wallets get at Lightning addresses (LNURL). */
export class LnurlOptions extends Context.Service<
  LnurlOptions,
  {
    readonly lnurl: {
      /** How long an invoice that a wallet asked for may be paid. */
      readonly expirySeconds: number
      readonly commentCharacters: number
      readonly payerDataBytes: number
      /** How long a wallet waits for an invoice. */
      readonly timeoutMillis: number
      /**
       * How many unpaid invoices of wallets one process keeps: of one caller, at one address, of one company, and in all. Beyond that the largest holder
       * loses its oldest invoice, which is canceled at the node.
       */
      readonly openPerCaller: number
      readonly openPerAddress: number
      readonly openPerCompany: number
      readonly open: number
      /** How long after its expiry an unpaid invoice is closed at the node and forgotten. */
      readonly forgetAfterMillis: number
      /** How many invoices may be requested of each process: at one address (a rate that callers share), and by one caller, who may claim as many vouchers. */
      readonly perAddress: Throttle.Rate
      readonly perCaller: Throttle.Rate
    }
  }
>()("@satrail/core/receiving/LnurlOptions") {}

export const defaults: LnurlOptions["Service"] = {
  lnurl: {
    expirySeconds: 600,
    commentCharacters: 280,
    payerDataBytes: 2048,
    timeoutMillis: 10_000,
    openPerCaller: 120,
    openPerAddress: 1200,
    openPerCompany: 2500,
    open: 10_000,
    forgetAfterMillis: 60_000,
    perAddress: Throttle.perMinute(300),
    perCaller: Throttle.perMinute(60)
  }
}
