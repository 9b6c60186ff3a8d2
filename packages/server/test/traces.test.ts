import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Telemetry from "../src/deployment/Telemetry.ts"
import { boundPort } from "@satrail/testing/boundPort"
import { eventually } from "@satrail/testing/Waiting"
import { createServer, type IncomingHttpHeaders } from "node:http"
import * as Whole from "./Whole.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{
    readonly key: string
    readonly value: { readonly stringValue?: string }
  }>
}

interface Asked {
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that responds to everything with 200 and records the requests. */
const receiver = async () => {
  const asked: Array<Asked> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      asked.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.setHeader("content-type", "application/json").end("{}")
    })
  })
  afterAll(() => server.close())
  return { asked, url: `http://127.0.0.1:${await boundPort(server.listen(0, "127.0.0.1"))}` }
}

describe("traces", () => {
  it("traces: a collector's redirect is not followed, so that no other server receives its headers", async () => {
    const other = await receiver()
    const asked: Array<string | undefined> = []
    const server = createServer((request, response) => {
      asked.push(request.url)
      request.resume()
      response.writeHead(307, { location: other.url }).end()
    })
    afterAll(() => server.close())
    const otlpEndpoint = `http://127.0.0.1:${await boundPort(server.listen(0, "127.0.0.1"))}`
    const spans = Telemetry.spans({ otlpEndpoint, otlpHeaders: { "x-api-key": Redacted.make("a secret") } })
    await Effect.runPromise(Effect.provide(Effect.withSpan(Effect.void, "a span"), spans))
    assert.deepStrictEqual([asked, other.asked], [["/v1/traces"], []])
  })

  it("C56: traces: a collector receives one trace from the caller's span through HTTP, journal and node to the webhook, and the trace contains no secret", async () => {
    const [collector, endpoint] = [await receiver(), await receiver()]
    const service = await Whole.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=of%20the%20collector"
    })
    const { key } = await service.companyWith("paid")
    const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      service.ask(method, path, { key, headers, ...(body !== undefined && { body }) })
    const { data: hook } = await ask("POST", "/v1/webhook-endpoints", {
      url: `${endpoint.url}/hooks/of-a-secret-path`
    })
    const { data: invoice } = await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      amount: 50_000,
      currency: "sats"
    })
    await ask("POST", "/sandbox/pay", { payment_request: invoice.payment_request })
    const { data: payee } = await ask("POST", "/sandbox/destination", {
      type: "lightning_invoice",
      amount_sats: 1000
    })
    await eventually(
      "the deposit",
      async () => (await ask("GET", "/v1/transactions/balance")).data.balance,
      (sats) => sats === 50_000
    )
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
    const confirmed = await ask(
      "POST",
      "/v1/bitcoin/withdraw/confirm",
      { destination: payee.destination },
      { traceparent, "x-request-id": "order-1042" }
    )
    const [posted] = await eventually(
      "the webhook",
      async () =>
        endpoint.asked.filter(({ body }) => /settled/.test(body) && body.includes(confirmed.data.id)),
      (posts) => posts.length > 0
    )
    await service.end()

    const text = collector.asked.map(({ body }) => body).join("\n")
    const spans = collector.asked.flatMap(
      ({ body }): ReadonlyArray<Span> => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans
    )
    const ours = spans.filter((span) => span.traceId === traceId)
    const byId = new Map(ours.map((span) => [span.spanId, span]))
    /** Returns the names of a span and its ancestors up to the request. */
    const above = (span: Span | undefined): ReadonlyArray<string> =>
      span === undefined ? [] : [span.name, ...above(byId.get(span.parentSpanId ?? ""))]
    const paths = ours.map((span) => above(span).join(" < "))
    const request = ours.find(({ kind }) => kind === 2)
    assert.strictEqual(request?.parentSpanId, "00f067aa0ba902b7")
    const attributes = new Map(request?.attributes.map(({ key, value }) => [key, value.stringValue]))
    assert.deepStrictEqual(
      [attributes.get("http.route"), attributes.get("satrail.request_id")],
      ["/v1/bitcoin/withdraw/confirm", "order-1042"]
    )
    for (const path of [
      "Journal.commit < Withdrawals.confirm < POST",
      "Journal.commit.flush < Journal.commit < Withdrawals.confirm < POST",
      "PaymentWorker.step < Journal.commit < Withdrawals.confirm < POST",
      "LightningSender.pay < PaymentWorker.step < Journal.commit < Withdrawals.confirm < POST",
      "Webhook.attempt < Journal.commit < Withdrawals.confirm < POST",
      "Outbound.ask < Webhook.attempt < Journal.commit < Withdrawals.confirm < POST"
    ])
      assert.include(paths, path)

    // The webhook's receiver gets the trace context.
    const attempts = ours
      .filter(({ name }) => name === "Webhook.attempt")
      .map(({ spanId }) => `00-${traceId}-${spanId}-01`)
    assert.include(attempts, posted?.headers["traceparent"])
    assert.strictEqual(posted?.headers["x-request-id"], `${posted?.headers["webhook-id"]}.1`)

    for (const { url, headers } of collector.asked)
      assert.deepStrictEqual(
        [url, headers["x-api-key"], headers["traceparent"]],
        ["/v1/traces", "of the collector", undefined]
      )
    for (const secret of [key, Whole.operatorToken, hook.secret, "of the collector", "of-a-secret-path"])
      assert.notInclude(text, secret)
  })
})
