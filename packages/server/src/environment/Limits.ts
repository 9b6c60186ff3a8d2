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

/** Who may call, how often, how much, and how often the service itself looks. */
export const settings = {
  proxies: Setting.withDefault({
    name: "SATRAIL_PROXIES",
    meaning:
      "How many reverse proxies of your own stand in front, each adding its caller to X-Forwarded-For: limits for each caller go by it",
    fallback: "0",
    ...Setting.whole(0, 10)
  }),
  maxConnections: Setting.withDefault({
    name: "SATRAIL_MAX_CONNECTIONS",
    meaning:
      "How many connections there may be at once. Without a proxy (SATRAIL_PROXIES=0), one address may have an eighth of them and a wider network up to half; whoever has most loses the one that was idle longest. Behind a proxy, one more is ended immediately",
    fallback: "4096",
    ...Setting.whole(1, 1_000_000)
  }),
  requestsPerKey: Setting.withDefault({
    name: "SATRAIL_REQUESTS_PER_KEY",
    meaning:
      "How many requests a minute are taken with one API key, in each process, and a thirtieth of that within a second; 0: any number",
    fallback: "6000",
    ...Setting.whole(0, 10_000_000)
  }),
  requestsPerStranger: Setting.withDefault({
    name: "SATRAIL_REQUESTS_PER_STRANGER",
    meaning:
      "How many requests a minute each process answers to one address without a valid key or operator's token: /v1 and /operator with a wrong one, /pay, LNURL, and /tls/ask from another machine. A /24 or /56 has 4 times as many, a /48 16 times; 0: any number",
    fallback: String(RequestRates.perStranger),
    ...Setting.whole(0, 10_000_000)
  }),
  lnurlPerAddress: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_ADDRESS",
    meaning: "How many invoices a minute wallets may request at one Lightning address, in each process",
    fallback: "300",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlPerCaller: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_CALLER",
    meaning: "How many invoices a minute one caller's wallets may request, and how often they may claim vouchers, in each process",
    fallback: "60",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlOpen: Setting.withDefault({
    name: "SATRAIL_LNURL_OPEN",
    meaning:
      "How many unpaid invoices of wallets each process keeps: a quarter of them for one company, four times SATRAIL_LNURL_PER_ADDRESS at one address, two times SATRAIL_LNURL_PER_CALLER for one caller. Of more, whoever holds most loses the oldest",
    fallback: String(Policy.defaults.lnurl.open),
    ...Setting.whole(1, 10_000_000)
  }),
  corsOrigins: Setting.optional({
    name: "SATRAIL_CORS_ORIGINS",
    meaning: "Origins whose pages may call from a browser, separated by commas",
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
      "To raise or remove a limit of a company that holds more than this, to allow one of its keys from more addresses, or to unfreeze it, two operators must send the same request within 24 hours; never: one operator is enough",
    fallback: String(Msat.toSats(Loosening.defaults.secondOperatorAbove)),
    ...satsOrNever
  }),
  paymentsAtOnce: Setting.withDefault({
    name: "SATRAIL_PAYMENTS_AT_ONCE",
    meaning: "How many Lightning payments each process hands to the node at once; one that the node has accepted does not count",
    fallback: String(Policy.defaults.paymentsAtOnce),
    ...Setting.whole(1, 512)
  }),
  payoutWindowSeconds: Setting.withDefault({
    name: "SATRAIL_PAYOUT_WINDOW_SECONDS",
    meaning: "The batching interval of on-chain payouts: those of one interval share a transaction; 0: each is sent at once, alone",
    fallback: String(Policy.defaults.payoutWindowMillis / 1000),
    ...Setting.whole(0, 86_400)
  }),
  reconcileSeconds: Setting.withDefault({
    name: "SATRAIL_RECONCILE_SECONDS",
    meaning: "How often the ledger is reconciled with node and chain",
    fallback: String(Policy.defaults.reconciliation.everyMillis / 1000),
    ...Setting.whole(1, 86_400)
  })
}
