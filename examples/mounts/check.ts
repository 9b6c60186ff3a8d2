// Sends each framework the same requests: one for the application's own page, one without a key, and one that
// creates an invoice and is then repeated.
import { serve } from "@hono/node-server"
import { Answer, ApiKeys, Companies } from "@satrail/service"
import { Effect, Redacted } from "effect"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { app as express } from "./express.ts"
import { app as fastify } from "./fastify.ts"
import { app as hono } from "./hono.ts"
import * as next from "./next/app/v1/[...path]/route.ts"
import { close, payments } from "./payments.ts"

const key = await payments.runPromise(
  Effect.gen(function* () {
    const company = yield* Effect.flatMap(
      (yield* Companies.Companies).open({ name: "Corner shop", plan: "free" }),
      Answer.made
    )
    const keys = yield* ApiKeys.ApiKeys
    const ask = {
      companyId: company.id,
      name: "checkout",
      scopes: ["receive", "read"],
      expiresAtMillis: null
    } as const
    return yield* Effect.flatMap(keys.issue(ask), Answer.made)
  })
)
const authorization = `Bearer ${Redacted.value(key.text)}`

type Ask = (path: string, init?: RequestInit) => Promise<Response>

const check = async (name: string, ask: Ask) => {
  assert.equal((await ask("/v1/transactions/balance")).status, 401)
  const body = JSON.stringify({
    amount: 21_000,
    currency: "sats",
    description: "two coffees",
    metadata: { shop: name }
  })
  const headers = { authorization, "content-type": "application/json", "idempotency-key": `order-${name}` }
  const answers = [1, 2].map(() =>
    ask("/v1/bitcoin/deposit/lightning-invoice", { method: "POST", headers, body })
  )
  const [first = "", second] = await Promise.all((await Promise.all(answers)).map((answer) => answer.text()))
  assert.match(first, /"payment_request":"lnbcrt210u1/, name)
  assert.equal(second, first)
  const large = await ask("/v1/bitcoin/deposit/lightning-invoice", {
    method: "POST",
    headers,
    body: `{"description":"${"x".repeat(2_000_000)}"}`
  })
  assert.equal(large.status, 413)
  await large.text()
  console.log(`${name}: /v1 responds`)
}

const listening =
  (port: number): Ask =>
  (path, init) =>
    fetch(`http://127.0.0.1:${port}${path}`, init)
const portOf = (server: { address: () => AddressInfo | string | null }) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
}

const expressServer = createServer(express).listen(0, "127.0.0.1")
await once(expressServer, "listening")
await fastify.listen({ port: 0, host: "127.0.0.1" })
const honoServer = serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" })
if (!honoServer.listening) await once(honoServer, "listening")

for (const [name, port] of [
  ["express", portOf(expressServer)],
  ["fastify", portOf(fastify.server)],
  ["hono", portOf(honoServer)]
] as const) {
  assert.equal(await (await listening(port)("/")).text(), "the shop")
  await check(name, listening(port))
}
// What Next does: one function per method, from a Request to a Response.
await check("next", (path, init) =>
  (init?.method === "POST" ? next.POST : next.GET)(new Request(`http://localhost${path}`, init))
)

/** A connection whose body was left unread after the 413 would delay the close by a minute or more. */
const closesSoon = (name: string, closed: Promise<unknown>) =>
  Promise.race([
    closed,
    setTimeout(30_000, undefined, { ref: false }).then(() =>
      assert.fail(`${name} does not close after a 413`)
    )
  ])

for (const [name, server] of [
  ["express", expressServer],
  ["hono", honoServer]
] as const) {
  server.close()
  await closesSoon(name, once(server, "close"))
}
await closesSoon("fastify", fastify.close())
await close()
