import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { inspect } from "node:util"
import { client, SatrailError } from "../src/index.ts"
import { world } from "../src/Transport.ts"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()

const said = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ status, message: "Not now.", data: null, error: { code } }, { status, headers })

const caught = async (call: PromiseLike<unknown>): Promise<SatrailError> => {
  const error: unknown = await Promise.resolve(call).catch((error: unknown) => error)
  return error instanceof SatrailError ? error : assert.fail(String(error))
}
const keysOf = (requests: ReadonlyArray<Request>) =>
  requests.map(({ headers }) => headers.get("idempotency-key"))

describe("retries", () => {
  it("client: a request with a lost response is repeated with the same key, and takes effect once", async () => {
    let lost = 0
    const { pay, requests } = service.clientOf({ key }, async (_, pass) => {
      const response = await pass()
      if (lost++ < 2) throw new TypeError("terminated")
      return response
    })
    const before = (await pay.invoices.list()).items.length
    lost = 0
    requests.length = 0
    const invoice = await pay.invoices.create({ amount: 21 })
    const keys = keysOf(requests)
    assert.lengthOf(keys, 3)
    assert.match(keys[0] ?? "", /^\d+-\d+$/)
    assert.lengthOf(new Set(keys), 1)
    const { items } = await pay.invoices.list()
    assert.strictEqual(items.length, before + 1)
    assert.strictEqual(items[0]?.id, invoice.id)
  })

  it("client: two calls use different keys, and a key given by the caller is used unchanged", async () => {
    const { pay, requests } = service.clientOf({ key })
    await pay.invoices.create({ amount: 1 })
    await pay.invoices.create({ amount: 1 })
    const [one, two] = keysOf(requests)
    assert.notStrictEqual(one, two)
    const first = await pay.invoices.create({ amount: 1, idempotencyKey: "order-1" })
    assert.deepStrictEqual(await pay.invoices.create({ amount: 1, idempotencyKey: "order-1" }), first)
    assert.strictEqual(
      (await caught(pay.invoices.create({ amount: 2, idempotencyKey: "order-1" }))).code,
      "idempotency_mismatch"
    )
  })

  it("client: a key with a character that no header can contain is refused before a request, and is not in the error", async () => {
    const { pay, requests, slept } = service.clientOf({ key })
    const over = (key: string) => client({ url: "http://127.0.0.1:9", key, retries: 0 })
    const calls = ["\nnext", "\n next", "€", "\0", "\0\n"].map(
      (end) => () => over(`${key}${end}`).transactions.balance()
    )
    for (const call of [...calls, () => pay.invoices.create({ amount: 1, idempotencyKey: "order-€" })]) {
      const error: unknown = await Promise.resolve(call()).catch((error: unknown) => error)
      assert.notInclude(inspect(error), key)
      assert.strictEqual(String(error), "TypeError: bad character in key")
    }
    assert.deepStrictEqual([requests, slept], [[], []])
    // A key that was read from a file ends with a line break.
    for (const end of ["\n", "\r\n", "\u2028"])
      await service.clientOf({ key: `${key}${end}` }).pay.transactions.balance()
  })

  it("client: 429 and 503 are retried after Retry-After", async () => {
    const answers = [
      said(429, "rate_limited", { "retry-after": "7" }),
      said(503, "overloaded", { "retry-after": "2" })
    ]
    const { pay, slept } = service.clientOf({ key }, async (_, pass) => answers.shift() ?? pass())
    await pay.transactions.balance()
    assert.deepStrictEqual(slept, [7000, 2000])
  })

  it("client: Retry-After may be a date; if that is too far away, the error is thrown immediately", async () => {
    const answers = [said(503, "paused", { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() })]
    const { pay, slept, requests } = service.clientOf({ key }, async (_, pass) => answers.shift() ?? pass())
    const error = await caught(pay.transactions.balance())
    assert.deepStrictEqual([error.code, error.isRetryable, error.isUnknown], ["paused", true, false])
    assert.isAbove(error.retryAfterMillis ?? 0, 3_500_000)
    assert.deepStrictEqual([slept.length, requests.length], [0, 1])
  })

  it("client: without Retry-After, each delay is longer than the previous one, and the last error has the request's key", async () => {
    // Node reports a refused connection to a name with several addresses, such as localhost, without a message.
    const cause = new TypeError("fetch failed", {
      cause: Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })
    })
    const { pay, slept, requests } = service.clientOf({ key, retries: 3 }, async () => {
      throw cause
    })
    const error = await caught(pay.invoices.create({ amount: 1 }))
    assert.deepStrictEqual(
      [error.status, error.code, error.isRetryable, error.isUnknown],
      [0, "unreachable", true, true]
    )
    assert.deepStrictEqual([slept, requests.length], [[125, 250, 500], 4])
    assert.strictEqual(error.idempotencyKey, keysOf(requests)[0])
    assert.strictEqual(error.message, "No response from http://service.example: ECONNREFUSED")
    assert.strictEqual(error.cause, cause)
  })

  it("client: a request that is unsafe to repeat is repeated only if it is known to have had no effect", async () => {
    let answers = [said(503, "timeout")]
    const { pay, requests } = service.clientOf({ key }, async (_, pass) => answers.shift() ?? pass())
    const { id } = await pay.webhooks.create({ url: "https://shop.example/webhooks" })
    answers = [said(503, "timeout")]
    requests.length = 0
    assert.strictEqual((await caught(pay.webhooks.rotateSecret(id))).code, "timeout")
    assert.lengthOf(requests, 1)
    answers = [said(503, "overloaded")]
    assert.match((await pay.webhooks.rotateSecret(id)).secret, /^whsec_/)
    assert.lengthOf(requests, 3)
  })

  it("client: a deletion or revocation whose response is lost is repeated, and returns the record", async () => {
    let isLost = false
    const { pay, requests } = service.clientOf({ key }, async (_, pass) => {
      const response = await pass()
      if (!isLost) return response
      isLost = false
      throw new TypeError("terminated")
    })
    const { id } = await pay.webhooks.create({ url: "https://shop.example/webhooks" })
    const { id: keyId } = await pay.apiKeys.create({ name: "a", scopes: ["read"] })
    const { id: addressId } = await pay.lightningAddresses.create({ handle: "annabel" })
    requests.length = 0
    for (const [expected, call] of [
      [id, () => pay.webhooks.delete(id)],
      [keyId, () => pay.apiKeys.revoke(keyId)],
      [addressId, () => pay.lightningAddresses.delete(addressId)]
    ] as const) {
      isLost = true
      assert.strictEqual((await call()).id, expected)
    }
    assert.lengthOf(requests, 6)
    assert.strictEqual((await caught(pay.webhooks.get(id))).code, "not_found")
  })

  it("client: a service that cannot encrypt stored responses receives the request once, without an Idempotency-Key", async () => {
    const unsealed = await start({ isSealing: false })
    const owner = await unsealed.company()
    const { pay, requests } = unsealed.clientOf({ key: owner.key })
    assert.match((await pay.apiKeys.create({ name: "a", scopes: ["read"] })).key, /^sr_/)
    assert.deepStrictEqual([keysOf(requests).length, keysOf(requests)[1]], [2, null])
    const error = await caught(pay.apiKeys.create({ name: "a", scopes: ["read"], idempotencyKey: "mine" }))
    assert.strictEqual(error.code, "idempotency_not_supported")
    await unsealed.dispose()
  })

  it("client: a rejected request is not repeated, and a response from another program is reported as unreadable", async () => {
    const { pay, requests } = service.clientOf({ key: "sr_wrong" })
    assert.strictEqual((await caught(pay.transactions.balance())).status, 401)
    assert.lengthOf(requests, 1)
    const { pay: elsewhere } = service.clientOf({ key }, async () => new Response("<html>", { status: 200 }))
    assert.strictEqual((await caught(elsewhere.transactions.balance())).code, "unreadable")
    const { pay: proxy, requests: tried } = service.clientOf(
      { key },
      async () => new Response("Bad gateway", { status: 503 })
    )
    assert.strictEqual((await caught(proxy.transactions.balance())).status, 503)
    assert.lengthOf(tried, 5)
    // Such as the errors of a library that validates requests.
    const error = { issues: [{ path: ["amount_sats"], message: "Required" }, null, { path: "amount_sats" }] }
    const { pay: validator } = service.clientOf({ key }, async () =>
      Response.json({ error }, { status: 400 })
    )
    const { status, code, issues } = await caught(validator.transactions.balance())
    assert.deepStrictEqual([status, code, issues.map(({ path }) => path)], [400, "unreadable", ["amount"]])
  })

  it("client: a gateway's 502 or 504 counts as a lost response, so the request is repeated only with a key", async () => {
    let answers = [502, 504].map((status) => new Response("<html>", { status }))
    const { pay, requests } = service.clientOf({ key }, async (_, pass) => answers.shift() ?? pass())
    await pay.invoices.create({ amount: 1 })
    assert.deepStrictEqual([requests.length, new Set(keysOf(requests)).size], [3, 1])
    const { id } = await pay.webhooks.create({ url: "https://shop.example/webhooks" })
    answers = [new Response("<html>", { status: 502 })]
    const error = await caught(pay.webhooks.rotateSecret(id))
    assert.deepStrictEqual([error.status, error.isRetryable, error.isUnknown], [502, true, true])
  })

  it("client: a wait that is too long for a timer does not end immediately", async () => {
    const timer = vi.spyOn(globalThis, "setTimeout")
    await world.sleep(2 ** 31, AbortSignal.abort())
    assert.deepStrictEqual(
      timer.mock.calls.map(([, millis]) => millis),
      [2_000_000_000]
    )
    timer.mockRestore()
  })

  it("client: a signal ends a call with the signal's reason, and no attempt exceeds its time limit", async () => {
    const never: typeof fetch = (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
      })
    const { pay } = service.clientOf({ key, fetch: never })
    const controller = new AbortController()
    const reason = new Error("the page was left")
    const call = Promise.resolve(pay.transactions.balance({ signal: controller.signal })).catch(
      (error: unknown) => error
    )
    controller.abort(reason)
    assert.strictEqual(await call, reason)
    const { pay: slow } = service.clientOf({ key, fetch: never, timeoutMillis: 1, retries: 0 })
    assert.include((await caught(slow.transactions.balance())).message, "timeout")
    assert.strictEqual(
      (
        await caught(
          service.clientOf({ operatorToken, fetch: never, timeoutMillis: 1, retries: 0 }).pay.companies.list()
        )
      ).status,
      0
    )
  })
})
