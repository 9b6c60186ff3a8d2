import * as Fill from "./Fill.ts"

const balances = "/v1/transactions/balance"
const invoices = "/v1/bitcoin/deposit/lightning-invoice"

/** Returns a complete HTTP request. */
const text = (method: string, route: string, apiKey: string, body?: unknown): string => {
  const json = body === undefined ? "" : JSON.stringify(body)
  const entity =
    body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]
  return [
    `${method} ${route} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${apiKey}`,
    ...entity,
    "",
    json
  ].join("\r\n")
}

/** A balance request for a server that ignores the content of requests. */
export const plain = [text("GET", balances, "none")]

export const createInvoice = (apiKey: string): string =>
  text("POST", invoices, apiKey, { amount: 1000, currency: "sats", description: "one of many" })

const destination = `${Fill.destination.handle}@${Fill.destination.domain}`

const confirm = (apiKey: string): string =>
  text("POST", "/v1/bitcoin/withdraw/confirm", apiKey, { amount: 1, currency: "sats", destination })

/** Number of requests in a random sequence. It is large enough that the sequence does not repeat soon. */
const spreadRequests = 4096

/**
 * Returns, for each kind of load, the requests to send to a service with a filled database. `keys` are the API
 * keys of its companies, in order.
 */
export const make = (keys: ReadonlyArray<string>) => {
  const busy = keys[Fill.busy - 1] ?? ""
  const any = () => keys[Math.floor(Math.random() * Fill.spread)] ?? ""
  return {
    balance: [text("GET", balances, busy)],
    // Every second row of each company is a paid invoice.
    invoice: [text("GET", `${invoices}/${Fill.id(Fill.kinds.history, Fill.busy - 1)}`, busy)],
    list: [text("GET", "/v1/transactions?limit=50", busy)],
    createInvoice: [createInvoice(busy)],
    confirm: [confirm(busy)],
    confirmSpread: Array.from({ length: spreadRequests }, () => confirm(any()))
  }
}
export type Requests = ReturnType<typeof make>
