import * as Fill from "./Fill.ts"
import { fresh } from "./Load.ts"

/** Routes of the service. */
export const balances = "/v1/transactions/balance"
export const invoices = "/v1/bitcoin/deposit/lightning-invoice"
export const confirms = "/v1/bitcoin/withdraw/confirm"

/** Returns a complete HTTP request. */
const text = (method: string, route: string, apiKey: string, body?: unknown, headers: ReadonlyArray<string> = []): string => {
  const json = body === undefined ? "" : JSON.stringify(body)
  const entity = body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]
  return [`${method} ${route} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${apiKey}`, ...headers, ...entity, "", json].join("\r\n")
}

/** A balance request for a server that ignores the content of requests. */
export const plain = [text("GET", balances, "none")]

export const createInvoice = (apiKey: string): string =>
  text("POST", invoices, apiKey, { amount: 1000, currency: "sats", description: "one of many" })

const destination = `${Fill.destination.handle}@${Fill.destination.domain}`

export const confirm = (apiKey: string, headers?: ReadonlyArray<string>): string =>
  text("POST", confirms, apiKey, { amount: 1, currency: "sats", destination }, headers)

/** Number of requests in a random sequence. It is large enough that the sequence does not repeat soon. */
const spreadRequests = 4096

/**
 * Returns, for each kind of load, the requests to send to a service with a filled database. `keys` are the API
 * keys of its companies, in order; `rows` is the number of history rows.
 */
export const make = (keys: ReadonlyArray<string>, rows: number) => {
  const busy = keys[Fill.busy - 1] ?? ""
  const any = (below: number) => Math.floor(Math.random() * below)
  const spread = (request: (apiKey: string, company: number) => string) =>
    Array.from({ length: spreadRequests }, () => {
      const company = any(Fill.spread)
      return request(keys[company] ?? "", company)
    })
  const invoice = (apiKey: string, number: number) => text("GET", `${invoices}/${Fill.id(Fill.kinds.history, number)}`, apiKey)
  const { handle, domain } = Fill.destination
  return {
    balance: [text("GET", balances, busy)],
    balanceSpread: spread((apiKey) => text("GET", balances, apiKey)),
    invoice: [invoice(busy, Fill.busy - 1)],
    // Every second row of each company is a paid invoice.
    invoiceSpread: spread((apiKey, company) => invoice(apiKey, company + Fill.fewestRows * any(Math.floor(rows / Fill.fewestRows)))),
    list: [text("GET", "/v1/transactions?limit=50", busy)],
    events: [text("GET", "/v1/events?limit=100", busy)],
    createInvoice: [createInvoice(busy)],
    lnurlCallback: [[`GET /lnurlp/${domain}/${handle}/callback?amount=1000000 HTTP/1.1`, `Host: ${domain}`, "", ""].join("\r\n")],
    confirm: [confirm(busy)],
    confirmSpread: spread((apiKey) => confirm(apiKey)),
    confirmWithKey: [confirm(busy, [`Idempotency-Key: ${fresh}`])]
  }
}
export type Requests = ReturnType<typeof make>
