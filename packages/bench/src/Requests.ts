import * as Fill from "./Fill.ts"
import { fresh } from "./Load.ts"

const lnurlCallback = [
  `GET /lnurlp/${Fill.destination.domain}/${Fill.destination.handle}/callback?amount=1000000 HTTP/1.1`,
  `Host: ${Fill.destination.domain}`,
  "",
  ""
].join("\r\n")

/** A whole request, with these headers. */
export const raw = (method: string, route: string, headers: ReadonlyArray<string>, body?: unknown): string => {
  const json = body === undefined ? "" : JSON.stringify(body)
  const entity = body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]
  return [`${method} ${route} HTTP/1.1`, "Host: 127.0.0.1", ...headers, ...entity, "", json].join("\r\n")
}

const text = (method: string, route: string, apiKey: string, body?: unknown, headers: ReadonlyArray<string> = []): string =>
  raw(method, route, [`Authorization: Bearer ${apiKey}`, ...headers], body)

/** Routes of the service. */
export const balances = "/v1/transactions/balance"
export const invoices = "/v1/bitcoin/deposit/lightning-invoice"

/** The same as the service is asked, for a server that answers anything. */
export const plain = text("GET", balances, "none")

/** Enough that a random order does not repeat itself soon. */
const spreadRequests = 4096

/** An invoice of the company with this key. */
export const createInvoice = (apiKey: string): string =>
  text("POST", invoices, apiKey, { amount: 1000, currency: "sats", description: "one of many" })

/** A withdrawal of the company with this key. */
export const confirm = (apiKey: string, headers?: ReadonlyArray<string>): string =>
  text(
    "POST",
    "/v1/bitcoin/withdraw/confirm",
    apiKey,
    { amount: 1, currency: "sats", destination: `${Fill.destination.handle}@${Fill.destination.domain}` },
    headers
  )

/** The company's balance. */
export const readBalance = (apiKey: string): string => text("GET", balances, apiKey)

/** A payment of this invoice by the company with this key. */
export const pay = (apiKey: string, invoice: string): string =>
  text("POST", "/v1/bitcoin/withdraw/confirm", apiKey, { destination: invoice })

/** What is asked of a service that was filled: whole HTTP requests, sent in turn. `keys` are those of its companies, in order; `rows` is how long their past is. */
export const make = (keys: ReadonlyArray<string>, rows = Fill.fewestRows) => {
  const busy = keys[Fill.busy - 1] ?? ""
  const any = (below: number) => Math.floor(Math.random() * below)
  const spread = (request: (apiKey: string, company: number) => string) =>
    Array.from({ length: spreadRequests }, () => {
      const company = any(Fill.spread)
      return request(keys[company] ?? "", company)
    })
  const invoice = (apiKey: string, number: number) => text("GET", `${invoices}/${Fill.id(Fill.kinds.history, number)}`, apiKey)
  return {
    balanceSpread: spread(readBalance),
    // Any paid invoice of its past: of each company's rows every other one is.
    invoiceSpread: spread((apiKey, company) => invoice(apiKey, company + Fill.fewestRows * any(Math.floor(rows / Fill.fewestRows)))),
    confirmOnce: [confirm(busy, [`Idempotency-Key: ${fresh}`])],
    balance: [readBalance(busy)],
    invoice: [invoice(busy, Fill.busy - 1)],
    list: [text("GET", "/v1/transactions?limit=50", busy)],
    createInvoice: [createInvoice(busy)],
    lnurlCallback: [lnurlCallback],
    confirm: [confirm(busy)],
    confirmSpread: spread((apiKey) => confirm(apiKey))
  }
}
export type Requests = ReturnType<typeof make>
