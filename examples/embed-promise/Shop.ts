import { type CompanyId, Decimal, Invoices, Journal } from "@satrail/service"
import type { Invoice } from "@satrail/service/records"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import * as Api from "./Api.ts"
import type { Payments } from "./Payments.ts"

const sats = new Map([
  ["coffee", 1_500n],
  ["cake", 4_200n]
])

const statusOf = (error: unknown) =>
  error instanceof Journal.NotFound ? 404 : error instanceof Journal.IdempotencyMismatch ? 409 : 503

/**
 * The shop's HTTP server, which is not listening yet. It serves `POST /checkout` and `GET /orders/:id`, and the
 * payments service's interface at `/v1`.
 */
export const open = async (payments: Payments, companyId: CompanyId.CompanyId) => {
  const invoices = await payments.runPromise(Invoices.Invoices)
  const api = await Api.mount(payments)

  /**
   * The page gives each checkout an id. If the same id is sent twice, only one order is created, and both
   * responses are the same.
   */
  const checkout = async (id: string, item: string) => {
    const price = sats.get(item)
    if (price === undefined || id === "") throw new Journal.NotFound({ what: "item", id: item })
    const ask = {
      companyId,
      amount: Decimal.make(price),
      currency: "sats" as const,
      description: `One ${item}`,
      expirySeconds: 600
    }
    const render = (invoice: Invoice.Invoice) =>
      JSON.stringify({ order: invoice.id, pay: invoice.paymentRequest })
    const request = { key: id, fingerprint: item, render }
    const outcome = await payments.runPromise(invoices.create({ ...ask, metadata: { item }, request }))
    return outcome._tag === "Made" ? render(outcome.value) : outcome.answer
  }

  const order = async (id: string) => {
    const { status } = await payments.runPromise(invoices.get(companyId, id))
    return JSON.stringify({ order: id, paid: status === "settled" })
  }

  const answer = (method: string, path: string, form: URLSearchParams) => {
    if (method === "POST" && path === "/checkout")
      return checkout(form.get("id") ?? "", form.get("item") ?? "")
    if (method === "GET" && path.startsWith("/orders/")) return order(path.slice("/orders/".length))
    throw new Journal.NotFound({ what: "page", id: path })
  }

  const server = createServer(async (request, response) => {
    try {
      const { method = "GET", url = "/" } = request
      if (url.startsWith("/v1/")) return await api.answer(request, response)
      const body = await answer(method, url, new URLSearchParams(await text(request)))
      response.setHeader("content-type", "application/json").end(body)
    } catch (error) {
      const status = statusOf(error)
      if (status === 503) console.error(error)
      if (response.headersSent) response.destroy()
      else response.writeHead(status).end()
    }
  })
  server.once("close", api.dispose)
  return server
}
