import * as Fill from "./Fill.ts"

const lnurlCallback = [
  `GET /lnurlp/${Fill.destination.domain}/${Fill.destination.handle}/callback?amount=1000000 HTTP/1.1`,
  `Host: ${Fill.destination.domain}`,
  "",
  ""
].join("\r\n")

const text = (method: string, route: string, apiKey: string, body?: unknown): string => {
  const json = body === undefined ? "" : JSON.stringify(body)
  const entity = body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]
  return [`${method} ${route} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${apiKey}`, ...entity, "", json].join("\r\n")
}

const balance = "/v1/transactions/balance"
const invoices = "/v1/bitcoin/deposit/lightning-invoice"

/** The same as the service is asked, for a server that answers anything. */
export const plain = text("GET", balance, "none")

/** Enough that a random order does not repeat itself soon. */
const spreadRequests = 4096

/** An invoice of the company with this key. */
export const createInvoice = (apiKey: string): string =>
  text("POST", invoices, apiKey, { amount: 1000, currency: "sats", description: "one of many" })

/** A withdrawal of the company with this key. */
export const confirm = (apiKey: string): string =>
  text("POST", "/v1/bitcoin/withdraw/confirm", apiKey, {
    amount: 1,
    currency: "sats",
    destination: `${Fill.destination.handle}@${Fill.destination.domain}`
  })

/** What is asked of a service that was filled: whole HTTP requests, sent in turn. `keys` are those of its companies, in order. */
export const make = (keys: ReadonlyArray<string>) => {
  const busy = keys[Fill.busy - 1] ?? ""
  return {
    balance: [text("GET", balance, busy)],
    invoice: [text("GET", `${invoices}/${Fill.id(Fill.kinds.history, Fill.busy - 1)}`, busy)],
    list: [text("GET", "/v1/transactions?limit=50", busy)],
    createInvoice: [createInvoice(busy)],
    lnurlCallback: [lnurlCallback],
    confirm: [confirm(busy)],
    confirmSpread: Array.from({ length: spreadRequests }, () => confirm(keys[Math.floor(Math.random() * Fill.spread)] ?? ""))
  }
}
export type Requests = ReturnType<typeof make>
