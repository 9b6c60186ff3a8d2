// The main scenarios in a program that knows the service only through its OpenAPI document. Its types are
// generated. The test creates `document.ts`.
import createClient from "openapi-fetch"
import assert from "node:assert/strict"
import { setTimeout } from "node:timers/promises"
import type { components, paths } from "./document.ts"

const [baseUrl = "", apiKey = ""] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })

/** Returns the data of a response, which must be successful. */
const right = <A, E>({ data, error }: { readonly data?: A; readonly error?: E }): A => {
  assert.equal(error, undefined, JSON.stringify(error))
  assert(data !== undefined)
  return data
}

const until = async <A>(look: () => Promise<A>, isSo: (found: A) => boolean): Promise<A> => {
  for (let i = 0; i < 600; i++) {
    const found = await look()
    if (isSo(found)) return found
    await setTimeout(100)
  }
  throw new Error("the condition still did not hold after a minute")
}

// Creates an invoice, which an external payer pays. Checks the deposit and the balance.
const header = { "Idempotency-Key": crypto.randomUUID() }
const body = {
  amount: 21_000,
  currency: "sats" as const,
  description: "two coffees",
  metadata: { order: "1042" }
}
const create = async () =>
  right(await client.POST("/v1/bitcoin/deposit/lightning-invoice", { params: { header }, body })).data
const invoice: components["schemas"]["LightningInvoice"] = await create()
assert.deepEqual(await create(), invoice)
right(await client.POST("/sandbox/pay", { body: { payment_request: invoice.payment_request } }))
await until(
  async () =>
    right(
      await client.GET("/v1/bitcoin/deposit/lightning-invoice/{invoiceID}", {
        params: { path: { invoiceID: invoice.id } }
      })
    ).data,
  ({ settled }) => settled
)
const list = async () =>
  right(await client.GET("/v1/transactions", { params: { query: { type: "deposit", limit: 1 } } })).data
const [first] = await until(list, (found) => found.length === 1)
assert(first !== undefined)
const deposit = right(
  await client.GET("/v1/transactions/deposits/{depositID}", { params: { path: { depositID: first.id } } })
).data
assert.equal(deposit.lightning_invoice_id, invoice.id)
const balance = async (): Promise<number> => right(await client.GET("/v1/transactions/balance")).data.balance
assert.equal(await balance(), 21_000)

// Sends part of the balance to a Lightning address: estimates, confirms and waits until the withdrawal is
// final.
const { destination } = right(
  await client.POST("/sandbox/destination", { body: { type: "lightning_address" } })
).data
const asked = { amount: 3000, currency: "sats" as const, destination }
const estimate = right(await client.POST("/v1/bitcoin/withdraw/estimate", { body: asked })).data
const confirmed = right(await client.POST("/v1/bitcoin/withdraw/confirm", { body: asked })).data
assert.equal(confirmed.fee_sats, estimate.service_fee_sats)
const withdrawal = await until(
  async () =>
    right(
      await client.GET("/v1/transactions/withdrawals/{withdrawalID}", {
        params: { path: { withdrawalID: confirmed.id } }
      })
    ).data,
  ({ status }) => status !== "pending"
)
assert.equal(withdrawal.status, "settled")
assert.equal(await balance(), 21_000 - 3000 - confirmed.fee_sats)

// The code identifies an error and determines its fields.
const { error, response } = await client.POST("/v1/bitcoin/withdraw/confirm", {
  body: { ...asked, amount: 1_000_000 }
})
assert.equal(response.status, 422)
assert(error !== undefined)
const { error: found } = error
assert(found.code === "insufficient_balance")
assert.equal(found.available_sats, await balance())
assert(found.needed_sats > 1_000_000)
assert.equal(found.request_id, response.headers.get("x-request-id"))
console.log(`told: ${found.code} ${found.doc_url}`)
