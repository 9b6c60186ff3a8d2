import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import * as Extension from "../src/edge/Extension.ts"
import { operatorToken, type Options, start } from "./Service.ts"

const started = async (logsRequests: boolean, more: Options["http"] = {}) => {
  const reached = Promise.withResolvers<void>()
  const slow = HttpRouter.add("GET", "/slow", Effect.andThen(Effect.sync(reached.resolve), Effect.never))
  const service = await start({
    checks: [{ name: "database", check: Effect.void }],
    http: { logsRequests, ...more, extensions: [Extension.make(slow)] }
  })
  afterAll(service.dispose)
  /** Lines of the request log, each with its fields and the request id from its annotation. */
  const lines = () =>
    service.logged.flatMap((text) => {
      const [, fields, id] = /^\["request",(\{.*?\})\].* \{"request_id":"(\w+)"\}$/.exec(text) ?? []
      return fields === undefined ? [] : [{ id, ...JSON.parse(fields) }]
    })
  return { service, lines, reached: reached.promise }
}

describe("the request log", () => {
  it("C56: request log: each request except a probe has one line, with method, route, status, time, key and request id, but no path or query", async () => {
    const { service, lines } = await started(true)
    const { key } = await service.company()
    const id = "0197a000-0000-7000-8000-000000000000"
    const ask = (
      method: string,
      path: string,
      as: string,
      more: { readonly key?: string; readonly body?: unknown } = {}
    ) => service.ask(method, path, { ...more, headers: { "x-request-id": as } })
    await ask("GET", "/v1/transactions/balance", "one", { key })
    await ask("GET", `/v1/vouchers/${id}`, "two", { key })
    await ask("POST", "/operator/companies", "three", {
      key: operatorToken,
      body: { name: "Example Ltd", plan: "free" }
    })
    await ask("GET", "/v1/transactions/balance", "four", { key: "sr_wrong" })
    await ask("GET", `/secret-${id}?k1=${id}`, "five")
    await ask("GET", "/lnurlw?k1=00", "six")
    await ask("OPTIONS", "/v1/transactions/balance", "seven")
    await ask("GET", "/healthz", "eight")
    await ask("GET", "/readyz/database", "nine")
    const keyId = lines()[0]?.key
    assert.match(String(keyId), /^\w{12}$/)
    assert.deepStrictEqual(
      lines().map(({ ms, ...line }) => {
        assert.isTrue(typeof ms === "number" && ms >= 0)
        return line
      }),
      [
        { id: "one", method: "GET", route: "/v1/transactions/balance", status: 200, key: keyId },
        { id: "two", method: "GET", route: "/v1/vouchers/:id", status: 404, key: keyId },
        { id: "three", method: "POST", route: "/operator/companies", status: 201, key: "operator:root" },
        { id: "four", method: "GET", route: "/v1/transactions/balance", status: 401 },
        { id: "five", method: "GET", route: "other", status: 404 },
        { id: "six", method: "GET", route: "/lnurlw", status: 200 },
        { id: "seven", method: "OPTIONS", route: "other", status: 200 }
      ]
    )
    for (const secret of [key, operatorToken, "sr_wrong", id])
      assert.notInclude(service.logged.join("\n"), secret)
  })

  it("request log: requests of the console page are marked", async () => {
    const { service, lines } = await started(true)
    await service.ask("GET", "/v1/transactions/balance", { headers: { "x-satrail-console": "1" } })
    assert.deepStrictEqual(
      lines().map(({ route, by }) => ({ route, by })),
      [{ route: "/v1/transactions/balance", by: "console" }]
    )
  })

  it("request log: showing the sign-in page is one request, without a failed one", async () => {
    const { service, lines } = await started(true, { console: true })
    await service.ask("GET", "/console", { headers: { accept: "text/html" } })
    assert.deepStrictEqual(
      lines().map(({ route, status }) => ({ route, status })),
      [{ route: "/console", status: 200 }]
    )
  })

  it("request log: a client that disconnects is logged as 499", async () => {
    const { service, lines, reached } = await started(true)
    const controller = new AbortController()
    const asked = service.handler(
      new Request("http://service/slow", { signal: controller.signal, headers: { "x-request-id": "gone" } })
    )
    await reached
    controller.abort()
    await asked.catch(() => undefined)
    assert.deepStrictEqual(
      lines().map(({ id, route, status }) => ({ id, route, status })),
      [{ id: "gone", route: "/slow", status: 499 }]
    )
  })

  it("request log: nothing is logged if the log is off", async () => {
    const { service } = await started(false)
    await service.ask("GET", "/healthz")
    await service.ask("GET", "/nothing")
    assert.deepStrictEqual(service.logged, [])
  })
})
