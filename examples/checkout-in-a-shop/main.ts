// A shop that opens a checkout over its own page. Shop.ts is the shop; this file listens on a port and plays
// a customer. Run it: npm run example -- checkout-in-a-shop. Add `serve` to keep it running.
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
const { handler, services, close } = await Shop.open(new URL(origin).host)

server.on("request", async ({ url = "", method = "GET", headersDistinct }, response) => {
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value])
  )
  const answer = await handler(new Request(new URL(url, origin), { method, headers }))
  response.writeHead(answer.status, [...answer.headers].flat())
  return pipeline(answer.body === null ? Readable.from([]) : answer.body, response)
})
console.log(`open       ${origin}`)
if (process.argv.includes("serve")) await once(process, "SIGINT")

// The customer buys, their wallet pays the checkout, and the page shows the payment.
const url = await (await fetch(`${origin}/buy`, { method: "POST" })).text()
const state = async () => JSON.parse(await (await fetch(`${url}/state`)).text())
const { asking, status } = await state()
assert.equal(status, "open")
console.log(`checkout   ${url}`)
const outside = await services.runPromise(Sandbox.Sandbox)
await services.runPromise(outside.pay({ paymentRequest: asking.invoice }))
const events =
  (await fetch(`${url}/state`, { headers: { accept: "text/event-stream" } })).body ?? assert.fail("a stream")
let heard = ""
for await (const text of events.pipeThrough(new TextDecoderStream())) heard += text // it ends when the checkout is paid
assert.match(heard, /"status":"paid"/)
console.log("paid       the page shows it")

server.close()
await close()
