import { afterAll, assert, describe, it } from "@effect/vitest"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import { Context, Effect } from "effect"
import { start } from "./Service.ts"
import { get, lookUp, refusal } from "./Wallet.ts"

// LUD-01: errors have one shape, statuses and headers carry no meaning, and any web page may send requests.

const service = await start({ http: { corsOrigins: ["https://shop.example"] } })
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")

const shape = ({ status, headers, text }: Awaited<ReturnType<typeof service.ask>>) => ({
  status,
  type: headers.get("content-type")?.split(";")[0],
  origin: headers.get("access-control-allow-origin"),
  text
})
const error = (reason: string) => ({
  status: 200,
  type: "application/json",
  origin: "*",
  text: JSON.stringify({ status: "ERROR", reason })
})
const headers = { host: "pay.example.com", origin: "https://wallet.example" }

describe("LUD-01: responses to wallets", () => {
  it("LUD-01: requests from any web page's origin are allowed", async () => {
    for (const origin of ["https://wallet.example", "https://shop.example", "null"]) {
      const { status, headers } = await service.ask("GET", "/.well-known/lnurlp/alice", {
        headers: { host: "pay.example.com", origin }
      })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("access-control-allow-origin"), "*", origin)
    }
    const preflight = await service.ask("OPTIONS", "/.well-known/lnurlp/alice", {
      headers: { ...headers, "access-control-request-method": "GET" }
    })
    assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "*")
    assert.include(preflight.headers.get("access-control-allow-methods") ?? "", "GET")
  })

  it("LUD-01: errors are reported in the body only, with status 200", async () => {
    const asked = (path: string) => service.ask("GET", path, { headers })
    const unknown = error("No such Lightning address")
    for (const path of [
      "/.well-known/lnurlp/nobody",
      "/.well-known/lnurlp/",
      "/.well-known/lnurlp/a%2Fb",
      "/.well-known/lnurlp/%00",
      `/.well-known/lnurlp/${"x".repeat(2000)}`,
      "/lnurlp/pay.example.com/nobody/callback?amount=21000",
      "/lnurlp/other.example/alice"
    ]) {
      assert.deepStrictEqual(shape(await asked(path)), unknown, path)
    }
    for (const path of [
      "/.well-known/lnurlp/alice/more",
      "/lnurlp/pay.example.com/alice/what",
      "/lnurlp/pay.example.com/alice/callback/more"
    ])
      assert.deepStrictEqual(shape(await asked(path)), error("There is nothing here"), path)
  })

  it("LUD-01: outages and crashes are also reported as LNURL errors", async () => {
    const offer = await lookUp(service, address)
    await service.sandbox((sandbox) => sandbox.pause("node"))
    const reason = await refusal(get(service, `${offer.callback}?amount=21000`))
    await service.sandbox((sandbox) => sandbox.resume("node"))
    assert.match(reason, /^The service cannot receive payments right now/)

    const broken = PayRequests.of({
      offer: () => Effect.die("boom"),
      invoice: () => Effect.die("boom"),
      verify: () => Effect.die("boom")
    })
    const other = await start({ instead: Context.make(PayRequests, broken) })
    assert.match(
      await refusal(get(other, "https://pay.example.com/.well-known/lnurlp/alice")),
      /^Internal error\. Reference: /
    )
    assert.isTrue(other.logged.some((line) => line.includes("LNURL: request crashed")))
    assert.isFalse(other.logged.some((line) => line.includes("alice")))
    await other.dispose()
  })

  it("LUD-01: a method other than GET is rejected with 405, as in the API", async () => {
    const {
      status,
      headers: answered,
      body
    } = await service.ask("POST", "/.well-known/lnurlp/alice", { headers, body: {} })
    assert.strictEqual(status, 405)
    assert.strictEqual(body.error?.code, "method_not_allowed")
    assert.strictEqual(answered.get("allow"), "GET, HEAD, OPTIONS")
  })
})
