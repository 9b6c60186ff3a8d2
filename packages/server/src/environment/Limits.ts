import * as Msat from "@satrail/bitcoin/Msat"
import * as Loosening from "@satrail/core/accounts/Loosening"
import * as Policy from "@satrail/core/service/Policy"
import * as RequestRates from "@satrail/http/edge/RequestRates"
import * as Setting from "./Setting.ts"

const sats: Setting.Kind<Msat.Msat> = {
  wants: `a whole number of sats from 1 to ${Msat.toSats(Msat.max)}`,
  read: (text) => {
    const amount = /^[1-9]\d{0,15}$/.test(text) ? Msat.fromSats(BigInt(text)) : undefined
    return amount !== undefined && amount <= Msat.max ? amount : undefined
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text

const satsOrNever: Setting.Kind<Msat.Msat | null> = {
  wants: `a whole number of sats from 0 to ${Msat.toSats(Msat.max)}, or never`,
  read: (text) => (text === "never" ? null : text === "0" ? Msat.zero : sats.read(text, ""))
}

/** Settings for callers, rate limits, size limits and intervals. */
export const settings = {
  proxies: Setting.withDefault({
    name: "SATRAIL_PROXIES",
    meaning:
      "The number of reverse proxies in front of the service. Each must add its caller's address to X-Forwarded-For. Limits per caller depend on this number",
    fallback: "0",
    ...Setting.whole(0, 10)
  }),
  maxConnections: Setting.withDefault({
    name: "SATRAIL_MAX_CONNECTIONS",
    meaning:
      "The maximum number of open connections. Without a proxy (SATRAIL_PROXIES=0), one address may have an eighth of them and a wider network up to half; if a limit is exceeded, the largest holder loses the connection idle longest. Behind a proxy, exceeding it closes an eighth of them, from the largest holders",
    fallback: "4096",
    ...Setting.whole(1, 1_000_000)
  }),
  requestsPerKey: Setting.withDefault({
    name: "SATRAIL_REQUESTS_PER_KEY",
    meaning:
      "The maximum number of requests per minute with one API key, in each process. The limit per second is a thirtieth of it. 0: no limit",
    fallback: "6000",
    ...Setting.whole(0, 10_000_000)
  }),
  requestsPerStranger: Setting.withDefault({
    name: "SATRAIL_REQUESTS_PER_STRANGER",
    meaning:
      "The maximum number of requests per minute from one address without a valid key or operator's token, in each process. Counts requests to /v1 and /operator with an invalid key or token, to /pay and LNURL, and to /tls/ask from another machine. A /24 or /56 may send 4 times as many, a /48 16 times. 0: no limit",
    fallback: String(RequestRates.perStranger),
    ...Setting.whole(0, 10_000_000)
  }),
  lnurlPerAddress: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_ADDRESS",
    meaning:
      "The maximum number of invoices per minute that wallets can request at one Lightning address, in each process",
    fallback: "300",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlPerCaller: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_CALLER",
    meaning:
      "The maximum number of invoices that one caller's wallets can request per minute, and the maximum number of vouchers they can claim per minute, in each process",
    fallback: "60",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlOpen: Setting.withDefault({
    name: "SATRAIL_LNURL_OPEN",
    meaning:
      "The maximum number of unpaid wallet invoices per process. One company can have a quarter of them, one address four times SATRAIL_LNURL_PER_ADDRESS, and one caller twice SATRAIL_LNURL_PER_CALLER. If a limit is exceeded, the holder with the most invoices loses its oldest one",
    fallback: String(Policy.defaults.lnurl.open),
    ...Setting.whole(1, 10_000_000)
  }),
  corsOrigins: Setting.optional({
    name: "SATRAIL_CORS_ORIGINS",
    meaning: "Comma-separated origins whose pages can call the API from a browser",
    wants: "origins such as https://shop.example, separated by commas",
    read: (text) => {
      const origins = text
        .split(",")
        .map((origin) => origin.trim())
        .filter((origin) => origin !== "")
      return origins.every(isOrigin) ? origins : undefined
    }
  }),
  maxBodyBytes: Setting.withDefault({
    name: "SATRAIL_MAX_BODY_BYTES",
    meaning: "The largest request body",
    fallback: "65536",
    ...Setting.whole(1024, 1_048_576)
  }),
  maxInvoice: Setting.withDefault({
    name: "SATRAIL_MAX_INVOICE_SATS",
    meaning: "The largest invoice",
    fallback: String(Msat.toSats(Policy.defaults.maxInvoice)),
    ...sats
  }),
  maxWithdrawal: Setting.withDefault({
    name: "SATRAIL_MAX_WITHDRAWAL_SATS",
    meaning: "The largest withdrawal",
    fallback: String(Msat.toSats(Policy.defaults.maxWithdrawal)),
    ...sats
  }),
  secondOperatorAbove: Setting.withDefault({
    name: "SATRAIL_SECOND_OPERATOR_ABOVE_SATS",
    meaning:
      "If a company holds more than this, two operators must send the same request within 24 hours to raise or remove its limits, allow more addresses for one of its keys, or unfreeze it. If set to never, one operator is always enough",
    fallback: String(Msat.toSats(Loosening.defaults.secondOperatorAbove)),
    ...satsOrNever
  }),
  paymentsAtOnce: Setting.withDefault({
    name: "SATRAIL_PAYMENTS_AT_ONCE",
    meaning:
      "The maximum number of Lightning payments that each process sends to the node at the same time; payments that the node has accepted don't count",
    fallback: String(Policy.defaults.paymentsAtOnce),
    ...Setting.whole(1, 512)
  }),
  payoutWindowSeconds: Setting.withDefault({
    name: "SATRAIL_PAYOUT_WINDOW_SECONDS",
    meaning:
      "The batching interval of on-chain payouts. All payouts of one interval share a transaction. 0: each payout is sent immediately in its own transaction",
    fallback: String(Policy.defaults.payoutWindowMillis / 1000),
    ...Setting.whole(0, 86_400)
  }),
  reconcileSeconds: Setting.withDefault({
    name: "SATRAIL_RECONCILE_SECONDS",
    meaning: "The interval at which the ledger is reconciled with the node and the chain",
    fallback: String(Policy.defaults.reconciliation.everyMillis / 1000),
    ...Setting.whole(1, 86_400)
  })
}
