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
