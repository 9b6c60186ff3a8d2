import { afterAll, assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Tracer } from "effect"
import * as Http from "@satrail/service/http/Http"
import { OperatorToken } from "../src/api/Authentication.ts"
import { Readiness } from "../src/api/Readiness.ts"
import { operatorToken, start } from "./Service.ts"

// An application that traces its requests also exports this service's spans.

const service = await start()
const spans: Array<Tracer.NativeSpan> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})
const { handler, dispose } = Http.webHandler(
  Layer.merge(Http.layer(), Layer.succeed(Tracer.Tracer, tracer)).pipe(
    Layer.provide(Layer.succeed(OperatorToken, Redacted.make(operatorToken))),
    Layer.provide(Layer.succeed(Readiness, [{ name: "node", check: Effect.die("broken") }])),
    Layer.provide(Layer.succeedContext(service.context))
  )
)
afterAll(async () => {
  await dispose()
  await service.dispose()
})

/** The parts of a span that are exported: the reason for a failure, but never a result. */
const said = () =>
  JSON.stringify(
    spans.map(({ name, attributes, events, status }) => ({
      name,
      attributes: [...attributes],
      events,
      failure: status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
    }))
  )

describe("a host's traces", () => {
  it("traces: spans show request and response without secrets such as keys and voucher links", async () => {
    const { key } = await service.company()
    await service.fund(key, 10_000)
    const { body } = await service.ask("POST", "/v1/vouchers", {
      key,
      body: { amount: 1000, currency: "sats" }
    })
    const [, k1 = ""] = /k1=([0-9a-f]{64})/.exec(body.data.lnurlw) ?? []
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      handler(new Request(`http://service${path}`, { method, headers }))
    assert.strictEqual(
      (await ask("GET", "/v1/transactions/balance", { authorization: `Bearer ${key}` })).status,
      200
    )
    assert.strictEqual(
      (
        await ask("POST", "/operator/companies", {
          authorization: `Bearer ${operatorToken}`,
          "idempotency-key": key
        })
      ).status,
      400
    )
    assert.strictEqual((await ask("GET", `/lnurlw?k1=${k1}`, {})).status, 200)
    assert.strictEqual((await ask("GET", `/lnurlw/callback?k1=${k1}&pr=x`, {})).status, 200)
    assert.strictEqual((await ask("GET", "/readyz", { authorization: `Bearer ${key}` })).status, 503)
    assert.isAtLeast(spans.length, 5)
    const text = said()
    assert.include(text, "/lnurlw/callback")
    for (const secret of [key, operatorToken, k1]) assert.notInclude(text, secret)
  })
})
