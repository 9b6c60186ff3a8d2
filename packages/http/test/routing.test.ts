import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, seen, start } from "./Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const company = await service.company("paid")

describe("a path has one spelling", () => {
  const balance = "/v1/transactions/balance"
  const others = [
    "/V1/transactions/balance",
    "/v1/transactions/Balance",
    "/v1//transactions/balance",
    "//v1/transactions/balance",
    `${balance}/`,
    `${balance};x=1`,
    `${balance};`,
    "/v1/transactions;limit=1",
    "/v1/transactions/%62alance",
    "/%76%31/transactions/balance",
    "/%6Fperator/companies",
    "/operator/%63ompanies",
    "/%2ewell-known/lnurlp/shop",
    "/lnurl%70/pay.example.com/shop",
    "/healthz/",
    "/openapi.json/",
    "/Docs"
  ]
  for (const path of others) {
    it(`path: ${path} returns 404`, async () => {
      for (const method of ["GET", "POST", "OPTIONS"])
        assert.deepStrictEqual(
          seen(await service.ask(method, path, { key: company.key })),
          bad(404, "not_found"),
          method
        )
    })
  }

  it("path: a page's path with a trailing slash redirects to the page, whatever the base path", async () => {
    const pages = [
      ["/console/", "../console"],
      ["/console/payments/?status=settled", "../payments?status=settled"],
      ["/console/?next=/pay/", "../console?next=/pay/"],
      ["/operator/console/", "../console"],
      ["/operator", "operator/console"],
      ["/operator/", "../operator"],
      ["/docs/", "../docs"],
      ["/docs/errors/", "../errors"],
      ["/docs/api/", "../api"],
      ["/operator/docs/", "../docs"],
      ["/pay/to/shop/?amount=5", "../shop?amount=5"],
      ["/pay/3f/", "../3f"]
    ] as const
    for (const [path, location] of pages) {
      const { status, headers } = await service.ask("GET", path, {
        headers: { accept: "text/html,*/*;q=0.8" }
      })
      assert.deepStrictEqual(
        [status === 303 || status === 308, headers.get("location")],
        [true, location],
        path
      )
    }
  })

  it("path: the error for a path that is right except for a trailing slash says so, whatever other routes match the path", async () => {
    for (const [method, path, says] of [
      ["POST", "/v1/bitcoin/deposit/lightning-invoice/", "No such route. The path must not end in a slash."],
      ["GET", `${balance}/?x=1`, "No such route. The path must not end in a slash."],
      ["POST", `${balance}/`, "No such route. Check the path and the method."]
    ] as const) {
      const { status, body } = await service.ask(method, path, { key: company.key })
      assert.deepStrictEqual(
        [status, body.error?.code, body.message],
        [404, "not_found", says],
        `${method} ${path}`
      )
    }
  })

  it("path: an invalid URL returns 404, even to a browser", async () => {
    for (const path of ["//[/", "//%/"])
      assert.strictEqual(
        (await service.ask("GET", path, { headers: { accept: "text/html" } })).status,
        404,
        path
      )
  })

  it("path: a path may be followed by a query whose parameters are separated by &", async () => {
    assert.strictEqual((await service.ask("GET", `${balance}?`, { key: company.key })).status, 200)
    assert.strictEqual((await service.ask("GET", "/openapi.json?x=1")).status, 200)
    assert.strictEqual(
      (await service.ask("GET", "/v1/transactions?limit=1;x=2", { key: company.key })).status,
      400
    )
  })
})
