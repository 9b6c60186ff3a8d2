// A shop in plain Node that accepts bitcoin. The payments service is part of its process (Payments.ts). The
// shop (Shop.ts) calls it with promises and receives its events. This file starts the shop, plays one customer,
// and stops the shop. Run it: npm run example -- embed-promise
import { ApiKeys, Companies, Events } from "@satrail/service"
import { Sandbox } from "@satrail/sandbox"
import { Redacted, Stream } from "effect"
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Payments from "./Payments.ts"
import * as Shop from "./Shop.ts"

const directory = await mkdtemp(path.join(tmpdir(), "shop-"))
const payments = Payments.open(directory)

// Run this once per shop, and store the id with the shop's data.
const companies = await payments.runPromise(Companies.Companies)
const opened = await payments.runPromise(companies.open({ name: "Corner shop", plan: "free" }))
assert(opened._tag === "Made", "only a request with a key can be the replay of an earlier one")
const companyId = opened.value.id

const shop = await Shop.open(payments, companyId)
await once(shop.listen(0, "127.0.0.1"), "listening")
const address = shop.address()
assert(address !== null && typeof address === "object")
const url = `http://127.0.0.1:${address.port}`
console.log(`open       ${url}`)

// Ship paid orders. A real shop stores the cursor of each event with its effect, and resumes after it at the
// next start.
const events = await payments.runPromise(Events.Events)
const shipments = new Map<string, PromiseWithResolvers<void>>()
const shipment = (order: string) => {
  const known = shipments.get(order) ?? Promise.withResolvers<void>()
  shipments.set(order, known)
  return known
}
const shipping = (async () => {
  for await (const event of Stream.toAsyncIterable(events.tail({ companyId }))) {
    if (event.type === "invoice.settled") shipment(event.record.id).resolve()
  }
})()

// A customer buys a cake, and clicks twice.
const form = () => new URLSearchParams({ id: "5b6b8a0c", item: "cake" })
const clicks = await Promise.all([1, 2].map(() => fetch(`${url}/checkout`, { method: "POST", body: form() })))
const [answer = "", again] = await Promise.all(clicks.map((response) => response.text()))
assert.equal(again, answer)
const { order, pay }: { order: string; pay: string } = JSON.parse(answer)
console.log(`checkout   order ${order}: please pay ${pay.slice(0, 32)}…`)

const look = async () => (await fetch(`${url}/orders/${order}`)).text()
assert.equal(await look(), JSON.stringify({ order, paid: false }))

// The customer's wallet pays, and the shop receives the event.
const outside = await payments.runPromise(Sandbox.Sandbox)
await payments.runPromise(outside.pay({ paymentRequest: pay }))
await shipment(order).promise
assert.equal(await look(), JSON.stringify({ order, paid: true }))
console.log("paid       thank you: it is on its way")

// The shop's other programs use HTTP and a key.
const apiKeys = await payments.runPromise(ApiKeys.ApiKeys)
const key = await payments.runPromise(
  apiKeys.issue({ companyId, name: "bookkeeping", scopes: ["read"], expiresAtMillis: null })
)
assert(key._tag === "Made")
const authorization = `Bearer ${Redacted.value(key.value.text)}`
const balance = await (await fetch(`${url}/v1/transactions/balance`, { headers: { authorization } })).text()
console.log(`balance    ${balance}`)
assert.match(balance, /"balance":4200\b/)

shop.close()
await once(shop, "close")
await payments.dispose()
await shipping
await rm(directory, { recursive: true })
console.log("closed")
