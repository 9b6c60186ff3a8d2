import { assert, it } from "@effect/vitest"
import type { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Metric } from "effect"
import { operatorToken, start } from "./Service.ts"

const service = await start()

/**
 * Scrapes the current values by series. They include other activity of this process, so tests compare
 * differences.
 */
const scraped = async () => {
  const { text } = await service.ask("GET", "/operator/metrics", { key: operatorToken })
  return new Map(
    text
      .split("\n")
      .flatMap((line) =>
        /^\w.* \S+$/.test(line)
          ? [[line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]]
          : []
      )
  )
}

/** Increases of the series with this prefix during `meanwhile`. */
const added = async (prefix: string, meanwhile: () => Promise<unknown>) => {
  const before = await scraped()
  await meanwhile()
  const changes = Array.from(
    await scraped(),
    ([series, value]) => [series, value - (before.get(series) ?? 0)] as const
  )
  return Object.fromEntries(changes.filter(([series, change]) => series.startsWith(prefix) && change !== 0))
}

it("metrics: the metrics are available to operators, in Prometheus's text format", async () => {
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

it("metrics: requests are counted by route and status and timed by route, and no label contains a path", async () => {
  const { key } = await service.company()
  const counted = await added("satrail_http_request", async () => {
    await service.ask("GET", "/v1/transactions/balance", { key })
    for (let i = 0; i < 3; i++) await service.ask("GET", `/nobody/${i}`)
    await service.ask("GET", "/v1/vouchers/0197a000-0000-7000-8000-000000000000", { key })
  })
  const routes = ["/v1/transactions/balance", "/v1/vouchers/:id", "other", "/operator/metrics"]
  for (const [series, change] of [
    [`satrail_http_requests_total{method="GET",route="/v1/transactions/balance",status="200"}`, 1],
    [`satrail_http_requests_total{method="GET",route="other",status="404"}`, 3],
    [`satrail_http_requests_total{method="GET",route="/v1/vouchers/:id",status="404"}`, 1],
    [`satrail_http_request_seconds_count{method="GET",route="/v1/transactions/balance"}`, 1],
    [`satrail_http_request_seconds_bucket{method="GET",route="/v1/transactions/balance",le="+Inf"}`, 1]
  ] as const)
    assert.strictEqual(counted[series], change, series)
  for (const series of Object.keys(counted)) assert.include(routes, /route="([^"]*)"/.exec(series)?.[1])
  const { text } = await service.ask("GET", "/operator/metrics", { key: operatorToken })
  for (const [name, type] of [
    ["http_requests_total", "counter"],
    ["http_request_seconds", "histogram"]
  ])
    assert.include(text.split("\n"), `# TYPE satrail_${name} ${type}`)
})

it("metrics: payments and their volume are counted by rail and result, but never by company", async () => {
  const { key } = await service.company()
  const payee = await service.company()
  const pay = async (body: {
    readonly destination: string
    readonly amount?: number
    readonly currency?: string
  }) => {
    assert.strictEqual((await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })).status, 201)
    await service.work()
  }
  const outside = async (ask: Parameters<Sandbox["Service"]["destination"]>[0]) =>
    (await service.sandbox((sandbox) => sandbox.destination(ask))).destination
  const counted = await added("satrail_payment", async () => {
    await service.fund(key, 20_000)
    await pay({ destination: await outside({ type: "lightning_invoice", amount: service.sats(1000) }) })
    await pay({
      destination: await outside({ type: "lightning_invoice", amount: service.sats(2000), behaviour: "fail" })
    })
    await pay({ destination: await outside({ type: "chain_address" }), amount: 3000, currency: "sats" })
    await service.sandbox((sandbox) => sandbox.mine(2))
    await service.work()
    const body = { amount: 500, currency: "sats" }
    const invoice = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key: payee.key,
      body
    })
    await pay({ destination: invoice.body.data.payment_request })
  })
  const of = (rail: string, result: string, sats: number) => ({
    [`satrail_payments_total{rail="${rail}",result="${result}"}`]: 1,
    [`satrail_payment_sats_total{rail="${rail}",result="${result}"}`]: sats
  })
  assert.deepStrictEqual(counted, {
    ...of("lightning", "received", 20_000),
    ...of("lightning", "sent", 1000),
    ...of("lightning", "failed", 2000),
    ...of("on_chain", "sent", 3000),
    ...of("internal", "sent", 500)
  })
})
