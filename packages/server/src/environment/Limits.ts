import * as Msat from "@satrail/bitcoin/Msat"
import * as Policy from "@satrail/core/policy/Policy"
import * as Setting from "./Setting.ts"

const sats: Setting.Kind<Msat.Msat> = {
  wants: `a whole number of sats from 1 to ${Msat.toSats(Msat.max)}`,
  read: (text) => {
    const amount = /^[1-9]\d{0,15}$/.test(text) ? Msat.fromSats(BigInt(text)) : undefined
    return amount !== undefined && amount <= Msat.max ? amount : undefined
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text

/** Who may call, how often, how much, and how often the service itself looks. */
export const settings = {
  proxies: Setting.withDefault({
    name: "SATRAIL_PROXIES",
    meaning:
      "How many reverse proxies of your own stand in front, each adding to X-Forwarded-For who asked it: what is limited for each caller goes by that",
    fallback: "0",
    ...Setting.whole(0, 10)
  }),
  maxConnections: Setting.withDefault({
    name: "SATRAIL_MAX_CONNECTIONS",
    meaning: "How many connections there may be at once; one more is ended at once. In front of many clients stands a proxy",
    fallback: "4096",
    ...Setting.whole(1, 1_000_000)
  }),
  lnurlPerAddress: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_ADDRESS",
    meaning: "How many invoices a minute wallets may ask for at one Lightning address, of each process",
    fallback: "300",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlPerCaller: Setting.withDefault({
    name: "SATRAIL_LNURL_PER_CALLER",
    meaning: "How many invoices a minute one caller's wallets may ask for, and how often they may claim vouchers, of each process",
    fallback: "60",
    ...Setting.whole(1, 10_000_000)
  }),
  lnurlOpen: Setting.withDefault({
    name: "SATRAIL_LNURL_OPEN",
    meaning:
      "How many invoices that wallets asked for may wait to be paid at once, in all; four times SATRAIL_LNURL_PER_ADDRESS of them at one address, and two times SATRAIL_LNURL_PER_CALLER of one caller",
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
  paymentsAtOnce: Setting.withDefault({
    name: "SATRAIL_PAYMENTS_AT_ONCE",
    meaning:
      "How many Lightning payments each process hands to the node at once; one that the node has taken on and that is only watched is none of them",
    fallback: String(Policy.defaults.paymentsAtOnce),
    ...Setting.whole(1, 512)
  }),
  payoutWindowSeconds: Setting.withDefault({
    name: "SATRAIL_PAYOUT_WINDOW_SECONDS",
    meaning: "How long payouts on the chain gather to go out in one transaction; 0: each goes at once, by itself",
    fallback: String(Policy.defaults.payoutWindowMillis / 1000),
    ...Setting.whole(0, 86_400)
  }),
  reconcileSeconds: Setting.withDefault({
    name: "SATRAIL_RECONCILE_SECONDS",
    meaning: "How often our books are compared with the node's and the chain's",
    fallback: String(Policy.defaults.reconciliation.everyMillis / 1000),
    ...Setting.whole(1, 86_400)
  })
}
