import { assert, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { operatorToken, start } from "./Service.ts"

const service = await start()

it("metrics: shown to the operator, in Prometheus's text format", async () => {
  const counter = Metric.counter("satrail_test_total", { description: "For this test", incremental: true })
  await Effect.runPromise(Metric.update(Metric.withAttributes(counter, { operation: "boiling" }), 3))
  const { status, headers, text } = await service.ask("GET", "/operator/metrics", { key: operatorToken })
  assert.strictEqual(status, 200)
  assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
  for (const line of [
    "# HELP satrail_test_total For this test",
    "# TYPE satrail_test_total counter",
    'satrail_test_total{operation="boiling"} 3'
  ])
    assert.include(text.split("\n"), line)
  const { key } = await service.company()
  assert.strictEqual((await service.ask("GET", "/operator/metrics", { key })).status, 401)
})

it("metrics: requests are counted by route and status, whatever paths were asked for, and timed by route", async () => {
  const { key } = await service.company()
  await service.ask("GET", "/v1/transactions/balance", { key })
  for (let i = 0; i < 3; i++) await service.ask("GET", `/nobody/${i}`)
  await service.ask("GET", "/v1/vouchers/0197a000-0000-7000-8000-000000000000", { key })
  const { text } = await service.ask("GET", "/operator/metrics", { key: operatorToken })
  const lines = text.split("\n")
  for (const line of [
    "# TYPE satrail_http_requests_total counter",
    'satrail_http_requests_total{method="GET",route="/v1/transactions/balance",status="200"} 1',
    'satrail_http_requests_total{method="GET",route="other",status="404"} 3',
    'satrail_http_requests_total{method="GET",route="/v1/vouchers/:id",status="404"} 1',
    "# TYPE satrail_http_request_seconds histogram",
    'satrail_http_request_seconds_count{method="GET",route="/v1/transactions/balance"} 1',
    'satrail_http_request_seconds_bucket{method="GET",route="/v1/transactions/balance",le="30"} 1'
  ])
    assert.include(lines, line)
})
