// A shop that opens a checkout over its own page. The payments service and its pages are part of the shop's server.
// Run it: npm run example -- checkout-in-a-shop; with `serve` behind it, it stays, to be looked at.
import { Checkout, Companies } from "@satrail/core"
import { Sandbox } from "@satrail/sandbox"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import process from "node:process"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as Shop from "./Shop.ts"

const server = createServer().listen(0, "127.0.0.1")
await once(server, "listening")
const address = server.address()
assert(address !== null && typeof address === "object")
const origin = `http://127.0.0.1:${address.port}`

const shop = Shop.open(new URL(origin).host)
const companies = await shop.services.runPromise(Companies.Companies)
const opened = await shop.services.runPromise(companies.open({ name: "Corner Café", plan: "free" }))
assert(opened._tag === "Made")
const { handler, dispose } = await shop.mount()

server.on("request", async (request, response) => {
  if (request.url === "/") return response.setHeader("content-type", "text/html").end(shop.page)
  if (request.url === "/buy") return response.end(Checkout.urlOf(await shop.buy(opened.value.id)))
  const answer = await handler(new Request(new URL(request.url ?? "/", origin), { method: request.method ?? "GET" }))
  response.writeHead(answer.status, [...answer.headers].flat())
  return pipeline(answer.body === null ? Readable.from([]) : answer.body, response)
})
console.log(`open       ${origin}`)
if (process.argv.includes("serve")) await once(process, "SIGINT")

// A customer buys; his wallet pays what the page shows, and the page says so.
const url = await (await fetch(`${origin}/buy`, { method: "POST" })).text()
const state = async () => JSON.parse(await (await fetch(`${url}/state`)).text())
const { asking, status } = await state()
assert.equal(status, "open")
console.log(`checkout   ${url}`)
const outside = await shop.services.runPromise(Sandbox.Sandbox)
await shop.services.runPromise(outside.pay({ paymentRequest: asking.invoice }))
const events = (await fetch(`${url}/state`, { headers: { accept: "text/event-stream" } })).body ?? assert.fail("a stream")
let heard = ""
for await (const text of events.pipeThrough(new TextDecoderStream())) heard += text // it ends when the checkout is paid
assert.match(heard, /"status":"paid"/)
console.log("paid       the page has said so")

server.close()
await dispose()
await shop.services.dispose()
