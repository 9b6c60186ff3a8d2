// An application's own feature in a running service: a reminder is set over HTTP, becomes due, and its event
// appears in the feed. Run it: npm run example -- own-feature
import { Answer, ApiKeys, Companies, features, Policy, Satrail } from "@satrail/core"
import { Features } from "@satrail/core/ports"
import { Api, Authentication, EventIds, Http, Readiness, Seal } from "@satrail/http"
import { Memory } from "@satrail/memory"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import assert from "node:assert/strict"
import { setTimeout } from "node:timers/promises"
import { reminders } from "./Reminders.ts"
import { page, section } from "./Routes.ts"

const ports = Layer.mergeAll(Memory.layer, Sandbox.layer({ seed: "own-feature", network: "regtest" }), FixedRates.layer())

const service = reminders.workers.pipe(
  Layer.provideMerge(reminders.layer),
  Layer.provideMerge(Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })),
  Layer.provideMerge(ports),
  Layer.provide(Layer.succeed(Features.Features, [...features, reminders]))
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
    const ask = { companyId: company.id, name: "till", scopes: ["admin"] as const, expiresAtMillis: null }
    return Redacted.value((yield* Effect.flatMap((yield* ApiKeys.ApiKeys).issue(ask), Answer.made)).text)
  })
)

interface Shown {
  readonly id: string
  readonly text: string
  readonly status: string
}
const ask = async <A>(path: string, body?: object): Promise<A> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "order-beans" }
  const request = new Request(`http://service${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) })
  const response = await handler(request)
  const { data }: { readonly data: A } = JSON.parse(await response.text())
  return data
}

const reminder = { text: "Order beans", due_at: new Date(Date.now() + 500).toISOString() }
const set = await ask<Shown>("/v1/reminders", reminder)
assert.deepEqual(await ask("/v1/reminders", reminder), set) // has the same idempotency key, so it returns the same reminder
console.log(`set        ${set.text}, ${set.status}`)
let events: ReadonlyArray<{ readonly type: string; readonly data: Shown }> = []
while (events.length === 0) {
  await setTimeout(100)
  events = await ask("/v1/events?types=reminder.*")
}
const [event] = events
assert.equal(event?.data.id, set.id)
console.log(`event      reminder.due: ${event?.data.text}`)
console.log(`list       ${(await ask<ReadonlyArray<Shown>>("/v1/reminders")).map(({ status }) => status).join()}`)
await dispose()
await runtime.dispose()
