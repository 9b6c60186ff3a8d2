import * as Msat from "@satrail/bitcoin/Msat"
import * as Policy from "@satrail/core/policy/Policy"
import { type Reader, type Variable, whole } from "./Variable.ts"

/** Who may call, how often, how much, and how often the service itself looks. */
export interface Limits {
  readonly proxies: number
  readonly maxConnections: number
  readonly lnurlPerAddress: number
  readonly lnurlPerCaller: number
  readonly lnurlOpen: number
  readonly corsOrigins: ReadonlyArray<string>
  readonly maxBodyBytes: number
  readonly maxInvoice: Msat.Msat
  readonly maxWithdrawal: Msat.Msat
  readonly paymentsAtOnce: number
  readonly payoutWindowSeconds: number
  readonly reconcileSeconds: number
}

const sats = {
  wants: `a whole number of sats from 1 to ${Msat.toSats(Msat.max)}`,
  read: (text: string) => {
    const amount = /^[1-9]\d{0,15}$/.test(text) ? Msat.fromSats(BigInt(text)) : undefined
    return amount !== undefined && amount <= Msat.max ? amount : undefined
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text

export const variables = {
  proxies: {
    name: "SATRAIL_PROXIES",
    meaning:
      "How many reverse proxies of your own stand in front, each adding to X-Forwarded-For who asked it: what is limited for each caller goes by that",
    fallback: "0",
    ...whole(0, 10)
  },
  maxConnections: {
    name: "SATRAIL_MAX_CONNECTIONS",
    meaning: "How many connections there may be at once; one more is ended at once. In front of many clients stands a proxy",
    fallback: "4096",
    ...whole(1, 1_000_000)
  },
  lnurlPerAddress: {
    name: "SATRAIL_LNURL_PER_ADDRESS",
    meaning: "How many invoices a minute wallets may ask for at one Lightning address, of each process",
    fallback: "300",
    ...whole(1, 10_000_000)
  },
  lnurlPerCaller: {
    name: "SATRAIL_LNURL_PER_CALLER",
    meaning: "How many invoices a minute one caller's wallets may ask for, and how often they may claim vouchers, of each process",
    fallback: "60",
    ...whole(1, 10_000_000)
  },
  lnurlOpen: {
    name: "SATRAIL_LNURL_OPEN",
    meaning:
      "How many invoices that wallets asked for may wait to be paid at once, in all; four times SATRAIL_LNURL_PER_ADDRESS of them at one address, and two times SATRAIL_LNURL_PER_CALLER of one caller",
    fallback: String(Policy.defaults.lnurl.open),
    ...whole(1, 10_000_000)
  },
  corsOrigins: {
    name: "SATRAIL_CORS_ORIGINS",
    meaning: "Origins whose pages may call from a browser, separated by commas",
    fallback: "",
    wants: "origins such as https://shop.example, separated by commas",
    read: (text) => {
      const origins = text
        .split(",")
        .map((origin) => origin.trim())
        .filter((origin) => origin !== "")
      return origins.every(isOrigin) ? origins : undefined
    }
  } satisfies Variable<ReadonlyArray<string>>,
  maxBodyBytes: { name: "SATRAIL_MAX_BODY_BYTES", meaning: "The largest request body", fallback: "65536", ...whole(1024, 1_048_576) },
  maxInvoice: {
    name: "SATRAIL_MAX_INVOICE_SATS",
    meaning: "The largest invoice",
    fallback: String(Msat.toSats(Policy.defaults.maxInvoice)),
    ...sats
  },
  maxWithdrawal: {
    name: "SATRAIL_MAX_WITHDRAWAL_SATS",
    meaning: "The largest withdrawal",
    fallback: String(Msat.toSats(Policy.defaults.maxWithdrawal)),
    ...sats
  },
  paymentsAtOnce: {
    name: "SATRAIL_PAYMENTS_AT_ONCE",
    meaning:
      "How many Lightning payments each process hands to the node at once; one that the node has taken on and that is only watched is none of them",
    fallback: String(Policy.defaults.paymentsAtOnce),
    ...whole(1, 512)
  },
  payoutWindowSeconds: {
    name: "SATRAIL_PAYOUT_WINDOW_SECONDS",
    meaning: "How long payouts on the chain gather to go out in one transaction; 0: each goes at once, by itself",
    fallback: String(Policy.defaults.payoutWindowMillis / 1000),
    ...whole(0, 86_400)
  },
  reconcileSeconds: {
    name: "SATRAIL_RECONCILE_SECONDS",
    meaning: "How often our books are compared with the node's and the chain's",
    fallback: String(Policy.defaults.reconciliation.everyMillis / 1000),
    ...whole(1, 86_400)
  }
}

export const read = ({ optional, required }: Reader): Limits => ({
  proxies: required(variables.proxies),
  maxConnections: required(variables.maxConnections),
  lnurlPerAddress: required(variables.lnurlPerAddress),
  lnurlPerCaller: required(variables.lnurlPerCaller),
  lnurlOpen: required(variables.lnurlOpen),
  corsOrigins: optional(variables.corsOrigins) ?? [],
  maxBodyBytes: required(variables.maxBodyBytes),
  maxInvoice: required(variables.maxInvoice),
  maxWithdrawal: required(variables.maxWithdrawal),
  paymentsAtOnce: required(variables.paymentsAtOnce),
  payoutWindowSeconds: required(variables.payoutWindowSeconds),
  reconcileSeconds: required(variables.reconcileSeconds)
})
