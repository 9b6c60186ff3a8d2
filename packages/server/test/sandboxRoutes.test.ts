import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Answer from "@satrail/core/ledger/Answer"
import { Companies } from "@satrail/core/accounts/Companies"
import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import { Api } from "@satrail/service/http/Api"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Docs from "@satrail/service/http/pages/Docs"
import * as Http from "@satrail/service/http/Http"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import * as SandboxRoutes from "../src/serving/SandboxRoutes.ts"
import { api } from "../src/serving/Server.ts"

const runtime = ManagedRuntime.make(
  Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(Memory.layer, FixedRates.layer(), Sandbox.layer({ seed: "routes", network: "regtest" }))
    )
  )
)
const controls = await runtime.runPromise(
  Effect.all({ sandbox: Sandbox.Sandbox, names: SimulatedDns.SimulatedDns })
)
const { handler, dispose } = Http.webHandler(
  Http.layerOf(Api.add(SandboxRoutes.section.group)).pipe(
    Layer.provide([
      Http.layerHandlers,
      SandboxRoutes.layer({
        ...controls,
        simulated: { lightning: true, chain: true, web: true, rates: true }
      })
    ]),
    Layer.provide(Http.layerMiddlewares),
    Layer.provide([
      Layer.succeed(OperatorToken, undefined),
      Layer.succeed(Readiness, []),
      Layer.succeedContext(await runtime.context())
    ])
  )
)
afterAll(() => Promise.all([dispose(), runtime.dispose()]))

const keyFor = (...scopes: ReadonlyArray<ApiKey.Scope>) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const opened = yield* (yield* Companies).open({ name: "Example Ltd", plan: "free" })
      if (opened._tag !== "Made")
        return yield* Effect.die("a request without an idempotency key cannot be a replay")
      const { issue } = yield* ApiKeys
      const { text } = yield* Effect.flatMap(
        issue({ companyId: opened.value.id, name: "test", scopes, expiresAtMillis: null }),
        Answer.made
      )
      return Redacted.value(text)
    })
  )
const admin = await keyFor("admin")

const ask = async (
  method: string,
  path: string,
  body?: unknown,
  key: string | null = admin,
  more: Record<string, string> = {}
) => {
  const response = await handler(
    new Request(`http://service${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...more
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
  )
  const { status, message, data, error } = JSON.parse(await response.text())
  return {
    http: response.status,
    status,
    message,
    data,
    code: error?.code,
    paths: error?.issues?.map(({ path }: { readonly path: string }) => path)
  }
}
const post = (path: string, body: unknown, key?: string | null) => ask("POST", `/sandbox${path}`, body, key)
const bad = (status: number, code: string) => ({ http: status, status, data: null, code })
const seen = ({ http, status, data, code }: Awaited<ReturnType<typeof ask>>) => ({ http, status, data, code })

describe("the sandbox over HTTP", () => {
  it("sandbox: an invoice can be paid only once", async () => {
    const {
      data: { payment_request, r_hash }
    } = await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })
    const paid = await post("/pay", { payment_request })
    assert.deepStrictEqual([paid.http, paid.status, paid.data.payment_hash], [200, 200, r_hash])
    assert.match(paid.data.preimage, /^[0-9a-f]{64}$/)
    assert.deepStrictEqual(seen(await post("/pay", { payment_request })), bad(422, "sandbox_refused"))
  })

  for (const type of ["lightning_invoice", "lightning_address", "lnurl", "chain_address"]) {
    it(`sandbox: a withdrawal to a ${type} created in the sandbox can be estimated`, async () => {
      const made = await post("/destination", { type, amount_sats: 5000 })
      assert.strictEqual(made.http, 201)
      assert.sameMembers(
        Object.keys(made.data),
        type === "lightning_invoice" ? ["destination", "payment_hash"] : ["destination"]
      )
      const estimate = await ask("POST", "/v1/bitcoin/withdraw/estimate", {
        amount: 5000,
        currency: "sats",
        destination: made.data.destination
      })
      assert.deepStrictEqual([estimate.http, estimate.data.recipient_type], [200, type])
    })
  }

  it("sandbox: a TXT record creates a name that can be paid (BIP 353)", async () => {
    const { destination: recipient } = (await post("/destination", { type: "chain_address" })).data
    const name = "alice.user._bitcoin-payment.shop.example"
    assert.strictEqual((await post("/txt", { name, value: `bitcoin:${recipient}` })).http, 200)
    const what = { amount: 5000, currency: "sats", destination: "alice@shop.example" }
    const { http, data } = await ask("POST", "/v1/bitcoin/withdraw/estimate", what)
    assert.deepStrictEqual(
      [http, data.recipient, data.recipient_type, data.bip353],
      [200, "₿alice@shop.example", "lightning_address", { recipient_type: "chain_address", recipient }]
    )
    assert.strictEqual((await post("/txt", { name, value: "" })).http, 200)
  })

  it("sandbox: payments can be sent on-chain, mined, and removed by a reorganization", async () => {
    const {
      data: {
        address: { address }
      }
    } = await ask("POST", "/v1/bitcoin/deposit/on-chain", {})
    const sent = await post("/send", { address, amount_sats: 100_000 })
    assert.deepStrictEqual([sent.http, Object.keys(sent.data)], [201, ["chain_tx_id"]])
    assert.match(sent.data.chain_tx_id, /^[0-9a-f]{64}$/)
    const mined = await post("/mine", { blocks: 3 })
    assert.strictEqual(mined.http, 200)
    const replaced = await post("/reorg", { depth: 2 })
    assert.deepStrictEqual([replaced.http, replaced.data], [200, { height: mined.data.height + 1 }])
  })

  it("sandbox: releasing a payment that is not held is rejected with a reason", async () => {
    const refused = await post("/release", { payment_hash: "0".repeat(64), outcome: "settle" })
    assert.deepStrictEqual(seen(refused), bad(422, "sandbox_refused"))
    assert.isNotEmpty(refused.message)
  })

  const wrong: ReadonlyArray<readonly [path: string, body: unknown, at: ReadonlyArray<string>]> = [
    ["/pay", {}, ["payment_request"]],
    ["/pay", { payment_request: "x", amount_sats: 0 }, ["amount_sats"]],
    ["/destination", { type: "bank" }, ["type"]],
    ["/destination", { type: "lnurl", behaviour: "explode" }, ["behaviour"]],
    ["/release", { payment_hash: "x", outcome: "maybe" }, ["payment_hash", "outcome"]],
    ["/send", { address: "x", amount_sats: 1.5 }, ["amount_sats"]],
    ["/mine", { blocks: 0 }, ["blocks"]],
    ["/mine", { blocks: 1, x: 1 }, ["x"]],
    ["/reorg", {}, ["depth"]],
    ["/fault", { what: "weather", for_seconds: 0 }, ["what", "for_seconds"]],
    ["/fault", { what: "node", for_seconds: 3601 }, ["for_seconds"]],
    ["/fee-rate", { sats_per_virtual_byte: 0 }, ["sats_per_virtual_byte"]],
    ["/clock", { advance_seconds: -1 }, ["advance_seconds"]],
    ["/clock", { advance_seconds: 367 * 86_400 }, ["advance_seconds"]],
    [
      "/destination",
      { type: "lightning_invoice", expiry_seconds: 0, final_cltv_expiry: 0 },
      ["expiry_seconds", "final_cltv_expiry"]
    ],
    ["/txt", { name: "a".repeat(254), value: "x" }, ["name"]],
    ["/txt", { name: "shop.example", value: "x".repeat(1021) }, ["value"]],
    ["/webhooks/orders/fail", { status: 200, times: 0 }, ["status", "times"]],
    ["/webhooks/Or%20ders/fail", { status: 500 }, ["name"]]
  ]
  for (const [path, body, at] of wrong) {
    it(`sandbox: ${path} rejects ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const refused = await post(path, body)
      assert.deepStrictEqual(seen(refused), bad(400, "malformed"))
      assert.sameMembers(refused.paths, [...at])
    })
  }

  it("sandbox: the number of TXT records is limited, and removing one makes room for another", async () => {
    for (let at = 0; at < SimulatedDns.maxNames; at++)
      await runtime.runPromise(controls.names.set(`name-${at}.example`, ["x"]))
    const more = { name: "one-more.example", value: "x" }
    const refused = await post("/txt", more)
    assert.deepStrictEqual(seen(refused), bad(422, "sandbox_refused"))
    assert.include(refused.message, "1000 names")
    assert.strictEqual(
      (await post("/txt", { name: "NAME-7.example", value: "changed" })).http,
      200,
      "an existing record may be changed"
    )
    assert.strictEqual((await post("/txt", { name: "name-7.example", value: "" })).http, 200)
    assert.strictEqual((await post("/txt", more)).http, 200)
  })

  it("sandbox: every key may use the sandbox, and a request without a key is rejected", async () => {
    for (const scope of ["read", "receive", "send"] as const)
      assert.strictEqual((await post("/mine", { blocks: 1 }, await keyFor(scope))).http, 200)
    assert.deepStrictEqual(seen(await post("/mine", { blocks: 1 }, null)), bad(401, "unauthorized"))
  })

  it("sandbox: an Idempotency-Key is rejected, because the sandbox stores no responses", async () => {
    const bodies = {
      pay: { payment_request: "lnbcrt1" },
      destination: { type: "lnurl" },
      release: { payment_hash: "00".repeat(32), outcome: "settle" },
      send: { address: "bcrt1", amount_sats: 1 },
      mine: { blocks: 1 },
      reorg: { depth: 1 },
      fault: { what: "node", for_seconds: 1 },
      "webhooks/orders/fail": { status: 500 }
    }
    for (const [route, body] of Object.entries(bodies)) {
      const answer = await ask("POST", `/sandbox/${route}`, body, admin, { "idempotency-key": "k" })
      assert.deepStrictEqual(seen(answer), bad(400, "idempotency_not_supported"), route)
    }
  })

  it("sandbox: the OpenAPI document describes the sandbox under a separate tag", async () => {
    const document = JSON.parse(await (await handler(new Request("http://service/openapi.json"))).text())
    assert.deepStrictEqual(document.paths["/sandbox/pay"].post.tags, ["Sandbox"])
    assert.property(document.paths, "/v1/transactions")
  })

  it("examples: every sandbox endpoint has an example that matches its schema", () => {
    const { customer } = Docs.whole(api, { network: "regtest" })
    const { differences } = OpenApi.read(customer)
    // oxlint-disable typescript/no-explicit-any -- the document is read by its names, like a client generator reads it
    const paths = Object.entries<any>(OpenApi.isObject(customer["paths"]) ? customer["paths"] : {})
    const pretended = paths.filter(([path]) => path.startsWith("/sandbox/"))
    const operations = pretended.flatMap(([path, item]) =>
      Object.entries<any>(item).map(([method, one]) => ({ path, method, one }))
    )
    // oxlint-enable typescript/no-explicit-any
    assert.lengthOf(operations, 16)
    for (const { path, method, one } of operations) {
      const [status] = Object.keys(one.responses)
      for (const { content } of [
        ...(one.requestBody === undefined ? [] : [one.requestBody]),
        one.responses[status ?? ""]
      ])
        assert.deepStrictEqual(
          differences(content["application/json"].examples.default.value, content["application/json"].schema),
          [],
          `${method} ${path}`
        )
    }
  })

  it("sandbox: a wrong method is rejected in the same way as on other routes", async () => {
    assert.deepStrictEqual(seen(await ask("GET", "/sandbox/pay")), bad(405, "method_not_allowed"))
  })
})
