// An application's own feature that holds money, in a running service: a company puts sats into boxes over HTTP, takes one
// out, and the other opens at its time. Run it: npm run example -- own-feature
import { Answer, ApiKeys, Companies, Decimal, features, Invoices, Policy, Satrail } from "@satrail/service"
import { Features } from "@satrail/core/ports"
import { Api, Authentication, EventIds, Http, Readiness, Seal } from "@satrail/service/http"
import { Memory } from "@satrail/service/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import assert from "node:assert/strict"
import { setTimeout } from "node:timers/promises"
import { boxes } from "./Boxes.ts"
import { page, section } from "./Routes.ts"

const ports = Layer.mergeAll(Memory.layer, Sandbox.layer({ seed: "own-feature", network: "regtest" }), FixedRates.layer())

const service = Layer.mergeAll(boxes.workers, Satrail.layerWorkers).pipe(
  Layer.provideMerge(boxes.layer),
  Layer.provideMerge(Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })),
  Layer.provideMerge(ports),
  Layer.provide(Layer.succeed(Features.Features, [...features, boxes]))
)
const runtime = ManagedRuntime.make(service)

const { handler, dispose } = Http.webHandler(
  Http.layerOf(Api.Api.add(section.group), { extensions: [page] }).pipe(
    Layer.provide([Http.layerHandlers, section.layer]),
    Layer.provide(Http.layerMiddlewares),
    Layer.provide([
      Layer.succeed(Authentication.OperatorToken, undefined),
      Layer.succeed(Readiness.Readiness, []),
      Layer.succeed(Seal.Seal, undefined),
      Layer.succeed(EventIds.Ids, EventIds.make(Redacted.make("the key that encrypts event ids"))),
      Layer.succeedContext(await runtime.context())
    ])
  )
)

const key = await runtime.runPromise(
  Effect.gen(function* () {
    const company = yield* Effect.flatMap((yield* Companies.Companies).open({ name: "Corner Café", plan: "free" }), Answer.made)
    const price = { companyId: company.id, amount: Decimal.make(1000n), currency: "sats", expirySeconds: 600, metadata: {} } as const
    const sold = yield* Effect.flatMap((yield* Invoices.Invoices).create({ ...price, description: "Beans" }), Answer.made)
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: sold.paymentRequest })
    const ask = { companyId: company.id, name: "till", scopes: ["admin"] as const, expiresAtMillis: null }
    return Redacted.value((yield* Effect.flatMap((yield* ApiKeys.ApiKeys).issue(ask), Answer.made)).text)
  })
)

interface Shown {
  readonly id: string
  readonly label: string
  readonly status: string
}
const ask = async <A>(path: string, body?: object, idempotencyKey: string = crypto.randomUUID()): Promise<A> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": idempotencyKey }
  const request = new Request(`http://service${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) })
  const response = await handler(request)
  const { data, message }: { readonly data: A; readonly message: string } = JSON.parse(await response.text())
  assert.ok(response.ok, message)
  return data
}
const funds = () => ask<{ readonly balance: number; readonly held_sats: number }>("/v1/transactions/balance")
const balance = async () => {
  const { balance, held_sats } = await funds()
  return `${balance} sats available, ${held_sats} in boxes`
}

while ((await funds()).balance === 0) await setTimeout(50) // until the invoice is settled
const opens_at = new Date(Date.now() + 500).toISOString()
const rent = { amount_sats: 600, label: "Rent", opens_at }
const first = await ask<Shown>("/v1/boxes", rent, "rent-may")
assert.deepEqual(await ask("/v1/boxes", rent, "rent-may"), first) // has the same idempotency key, so it returns the same box
const second = await ask<Shown>("/v1/boxes", { amount_sats: 300, label: "Holiday", opens_at: "2100-01-01T00:00:00Z" })
console.log(`put in     ${await balance()}`)
await ask(`/v1/boxes/${second.id}/open`, {})
console.log(`take out   ${await balance()}`)
let events: ReadonlyArray<{ readonly data: Shown }> = []
while (events.length < 2) {
  await setTimeout(100)
  events = await ask("/v1/events?types=box.*")
}
console.log(`events     ${events.map(({ data }) => `box.opened: ${data.label}`).join(", ")}`)
console.log(`at last    ${await balance()}`)
await dispose()
await runtime.dispose()
