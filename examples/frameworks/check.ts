// Sends each framework the same requests. An order is placed twice. A webhook is accepted with the right
// secret and rejected with another one.
import { serve } from "@hono/node-server"
import { Answer, ApiKeys, Companies } from "@satrail/service"
import { Effect, Redacted } from "effect"
import assert from "node:assert/strict"
import { createHmac, randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { nodeHandler } from "../mounts/node.ts"
import { close, handler, payments } from "../mounts/payments.ts"

const portOf = (server: { address: () => AddressInfo | string | null }) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
}
const answer = nodeHandler(handler)
const service = createServer(
  (request, response) => void answer(request, response, request.url ?? "/")
).listen(0, "127.0.0.1")
await once(service, "listening")

const key = await payments.runPromise(
  Effect.gen(function* () {
    const company = yield* Effect.flatMap(
      (yield* Companies.Companies).open({ name: "Corner shop", plan: "free" }),
      Answer.made
    )
    const keys = yield* ApiKeys.ApiKeys
    return yield* Effect.flatMap(
      keys.issue({ companyId: company.id, name: "shop", scopes: ["receive"], expiresAtMillis: null }),
      Answer.made
    )
  })
)
const secret = `whsec_${randomBytes(24).toString("base64")}`
Object.assign(process.env, {
  SATRAIL_URL: `http://127.0.0.1:${portOf(service)}`,
  SATRAIL_API_KEY: Redacted.value(key.text),
  WEBHOOK_SECRET: secret
})

/** A webhook as the service signs it. */
const webhook = (order: string, signedWith = secret): RequestInit => {
  const [id, at] = [`evt_${order}`, Math.floor(Date.now() / 1000)]
  const record = { id: "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d", order_id: order, amount_sats: 5000 }
  const timestamp = new Date().toISOString()
  const body = JSON.stringify({
    id,
    type: "checkout.paid",
    event: "checkout.paid",
    timestamp,
    company_id: "",
    api_version: "v1",
    data: record
  })
  const signature = createHmac("sha256", Buffer.from(signedWith.slice("whsec_".length), "base64"))
    .update(`${id}.${at}.${body}`)
    .digest("base64")
  const signed = { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${signature}` }
  return { method: "POST", body, headers: { "content-type": "application/json", ...signed } }
}

type Ask = (path: string, init: RequestInit) => Promise<Response>

const check = async (name: string, ask: Ask) => {
  const buy = async () => {
    const response = await ask("/buy", {
      method: "POST",
      body: new URLSearchParams({ order: name }),
      redirect: "manual"
    })
    assert.equal(response.status, 303, `${name}: ${await response.text()}`)
    return response.headers.get("location") ?? ""
  }
  const url = await buy()
  assert.match(url, /^https:\/\/pay\.example\.com\/pay\/\w+$/)
  assert.equal(await buy(), url)
  assert.equal((await ask("/webhooks", webhook(name))).status, 204, name)
  assert.equal((await ask("/webhooks", webhook(name, `whsec_${btoa("another secret")}`))).status, 400, name)
  console.log(`${name}: sells and receives`)
}
const listening =
  (port: number): Ask =>
  (path, init) =>
    fetch(`http://127.0.0.1:${port}${path}`, init)

/** Decorators require a compiler. This is the compiled nest.ts. */
const compiled = "./compiled/nest.js"
const [{ app: express }, { app: fastify }, { app: hono }, { app: nest }, { server: node }] =
  await Promise.all([
    import("./express.ts"),
    import("./fastify.ts"),
    import("./hono.ts"),
    import(compiled),
    import("./node.ts")
  ])
const [buyRoute, webhooksRoute, { buy }] = await Promise.all([
  import("./next/app/buy/route.ts"),
  import("./next/app/webhooks/route.ts"),
  import("./next/app/actions.ts")
])
const expressServer = createServer(express).listen(0, "127.0.0.1")
await once(expressServer, "listening")
await fastify.listen({ port: 0, host: "127.0.0.1" })
const honoServer = serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" }) as Server
if (!honoServer.listening) await once(honoServer, "listening")
await nest.listen(0, "127.0.0.1")
await once(node.listen(0, "127.0.0.1"), "listening")

for (const [name, server] of [
  ["express", expressServer],
  ["fastify", fastify.server],
  ["hono", honoServer],
  ["nest", nest.getHttpServer()],
  ["node", node]
] as const)
  await check(name, listening(portOf(server)))
// What Next does: one function per method and action.
await check("next", (path, init) =>
  (path === "/buy" ? buyRoute : webhooksRoute).POST(new Request(`http://localhost${path}`, init))
)
const form = new FormData()
form.set("order", "next")
assert.match(await buy(null, form), /\/pay\/\w+$/)

for (const server of [expressServer, honoServer, node, service]) server.close()
await fastify.close()
await nest.close()
await close()
