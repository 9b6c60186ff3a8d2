import { afterAll, assert, describe, it } from "@effect/vitest"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import { Context, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Exchange from "../src/edge/Exchange.ts"
import * as RequestRates from "../src/edge/RequestRates.ts"
import { bad, operatorToken, seen, start, stillTime } from "./Service.ts"

const limits = (given: RequestRates.Limits) => ({
  instead: Context.make(RequestRates.RequestRates, RequestRates.make(given)),
  around: stillTime
})
const [perKey, perStranger, open] = [
  await start(limits({ perKey: 3 })),
  await start(limits({ perStranger: 2, proxies: 1 })),
  await start()
]
afterAll(() => Promise.all([perKey, perStranger, open].map(({ dispose }) => dispose())))

const path = "/v1/transactions/balance"
const told = ({ headers, status }: { readonly headers: Headers; readonly status: number }) => [
  status,
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
  headers.get("retry-after")
]
const policy = '"key";q=3;w=60'

describe("request rates", () => {
  it("request rates: each response reports the key's remaining requests, and each rejection reports when the next request is allowed; other keys are unaffected", async () => {
    const [one, other] = [await perKey.company(), await perKey.company()]
    const ask = (key: string) => perKey.ask("GET", path, { key })
    const answers = [await ask(one.key), await ask(one.key), await ask(one.key)]
    assert.deepStrictEqual(answers.map(told), [
      [200, policy, '"key";r=2;t=20', null],
      [200, policy, '"key";r=1;t=40', null],
      [200, policy, '"key";r=0;t=60', null]
    ])
    const refused = await ask(one.key)
    assert.deepStrictEqual(seen(refused), bad(429, "rate_limited"))
    assert.deepStrictEqual(told(refused), [429, policy, '"key";r=0;t=60', "20"])
    assert.deepStrictEqual(told(await ask(other.key)), [200, policy, '"key";r=2;t=20', null])
  })

  it("audit: a flood of requests with one key is recorded immediately and again after a minute, whatever is requested", async () => {
    const company = await perKey.company()
    for (let i = 0; i < 6; i++) await perKey.ask("GET", path, { key: company.key })
    for (let i = 0; i < 3; i++)
      assert.strictEqual(
        (await perKey.ask("POST", "/v1/vouchers", { key: company.key, body: {} })).status,
        429
      )
    assert.strictEqual((await perKey.ask("GET", "/v1/events/stream", { key: company.key })).status, 429)
    const lines = async () => {
      await perKey.run(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }))
      const { data } = (
        await perKey.ask("GET", `/operator/audit?company_id=${company.id}&outcome=rate_limited`, {
          key: operatorToken
        })
      ).body
      return data.map(
        ({
          verb,
          actor_id,
          count
        }: {
          readonly verb: string
          readonly actor_id: string
          readonly count: number
        }) => [verb, actor_id, count]
      )
    }
    const id = company.key.split("_")[2]
    assert.deepStrictEqual(await lines(), [["read.balance", id, 1]])
    await perKey.run(Effect.flatMap(AuditLog.AuditLog, ({ flush }) => flush))
    assert.deepStrictEqual(await lines(), [
      ["read.balance", id, 6],
      ["read.balance", id, 1]
    ])
  })

  it.effect(
    "request rates: a client that retries immediately is rejected after a delay; a client that waits is rejected without a delay",
    () =>
      Effect.gen(function* () {
        const ofKey = RequestRates.make({ perKey: 1 }).ofKey ?? assert.fail("keys are not limited")
        yield* ofKey("a")
        const { count, everyMillis } = RequestRates.promptRefusals
        const ask = (key: string) => Effect.forkChild(Effect.flip(ofKey(key)), { startImmediately: true })
        const asked = yield* Effect.replicateEffect(ask("a"), count + 2)
        const answered = () => asked.filter((fiber) => fiber.pollUnsafe() !== undefined).length
        assert.strictEqual(answered(), count)
        yield* ofKey("b")
        yield* TestClock.adjust(RequestRates.lateMillis - 1)
        assert.strictEqual(answered(), count)
        yield* TestClock.adjust(1)
        assert.strictEqual(answered(), count + 1)
        yield* TestClock.adjust(RequestRates.apartMillis)
        assert.strictEqual(answered(), count + 2)
        yield* TestClock.adjust(everyMillis)
        assert.isDefined((yield* ask("a")).pollUnsafe())
      })
  )

  it.effect(
    "request rates: the number of delayed rejections is limited; any further rejection is sent immediately",
    () =>
      Effect.gen(function* () {
        const ofKey = RequestRates.make({ perKey: 1 }).ofKey ?? assert.fail("keys are not limited")
        yield* ofKey("a")
        const ask = Effect.forkChild(Effect.flip(ofKey("a")), { startImmediately: true })
        const waiting = (yield* Effect.replicateEffect(
          ask,
          RequestRates.promptRefusals.count + RequestRates.maxLate
        )).slice(-RequestRates.maxLate)
        assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() === undefined))
        assert.isDefined((yield* ask).pollUnsafe())
        // An interrupted request frees its slot.
        yield* Fiber.interrupt(waiting[0] ?? assert.fail("no request waits"))
        assert.isUndefined((yield* ask).pollUnsafe())
        assert.isDefined((yield* ask).pollUnsafe())
      })
  )

  it.effect(
    "request rates: all requests allowed per second may arrive in one burst, and the error for any further request names the limit per second",
    () =>
      Effect.gen(function* () {
        const ofKey = RequestRates.make({ perKey: 600 }).ofKey ?? assert.fail("keys are not limited")
        assert.deepStrictEqual([RequestRates.burstOf(600), RequestRates.promptOf(20)], [20, 10])
        const asked = yield* Effect.replicateEffect(
          Effect.forkChild(Effect.exit(ofKey("a")), { startImmediately: true }),
          21
        )
        const taken = () => asked.slice(0, 20).filter((fiber) => fiber.pollUnsafe() !== undefined).length
        assert.strictEqual(taken(), 10)
        for (let more = 1; more <= 10; more++) {
          yield* TestClock.adjust(49)
          assert.strictEqual(taken(), 9 + more)
          yield* TestClock.adjust(1)
          assert.strictEqual(taken(), 10 + more)
        }
        const last = yield* Fiber.join(asked[20] ?? assert.fail())
        assert.include(
          JSON.stringify(last),
          "Rate limit reached: at most 20 requests per second with this key"
        )
        // Each key has its own rate, and evenly spaced requests never wait.
        assert.isDefined((yield* Effect.forkChild(ofKey("b"), { startImmediately: true })).pollUnsafe())
        yield* TestClock.adjust(1000)
        for (let n = 0; n < 100; n++) {
          assert.isDefined(
            (yield* Effect.forkChild(ofKey("a"), { startImmediately: true })).pollUnsafe(),
            `${n}`
          )
          yield* TestClock.adjust(50)
        }
      })
  )

  it.effect(
    "request rates: both limits are reported, and a request rejected by the limit per second does not count toward the limit per minute",
    () =>
      Effect.gen(function* () {
        const ofKey = RequestRates.make({ perKey: 15 }).ofKey ?? assert.fail("keys are not limited")
        const asked = Effect.suspend(() => {
          const exchange = Exchange.make("a request")
          return Effect.map(
            Effect.exit(Effect.provideService(ofKey("a"), Exchange.Current, exchange)),
            () => exchange.headers
          )
        })
        const told = (left: string, retryAfter?: string) => ({
          "ratelimit-policy": '"key";q=15;w=60, "burst";q=10;w=1',
          ratelimit: left,
          ...(retryAfter !== undefined && { "retry-after": retryAfter })
        })
        assert.deepStrictEqual(yield* asked, told('"key";r=14;t=4, "burst";r=9;t=1'))
        for (let n = 1; n < 10; n++) yield* asked
        assert.deepStrictEqual(yield* asked, told('"key";r=5;t=40, "burst";r=0;t=1', "1"))
        yield* TestClock.adjust(500)
        for (let n = 0; n < 5; n++) yield* asked
        yield* TestClock.adjust(1000)
        assert.deepStrictEqual(yield* asked, told('"key";r=0;t=59, "burst";r=10;t=0', "3"))
      })
  )

  it("request rates: the limit per second is 1/30 of the limit per minute, at least ten, and never above the limit per minute", () => {
    assert.deepStrictEqual(
      [1, 9, 10, 60, 300, 600, 6000, 60_000].map((perMinute) => [perMinute, RequestRates.burstOf(perMinute)]),
      [
        [1, 1],
        [9, 9],
        [10, 10],
        [60, 10],
        [300, 10],
        [600, 20],
        [6000, 200],
        [60_000, 2000]
      ]
    )
  })

  it("request rates: requests that are rejected for other reasons still count, and their responses have the rate headers; a stream counts as one request", async () => {
    const { id } = await perKey.company()
    const key = await perKey.keyFor(id, "receive")
    const refused = await perKey.ask("GET", path, { key })
    assert.deepStrictEqual(told(refused), [403, policy, '"key";r=2;t=20', null])
    for (let i = 0; i < 2; i++) await perKey.ask("GET", path, { key })
    assert.deepStrictEqual(
      seen(await perKey.ask("GET", "/v1/events/stream", { key })),
      bad(429, "rate_limited")
    )
  })

  it("request rates: on every route, requests without a valid key or token are counted by address, and do not affect a valid key used from that address", async () => {
    const { key } = await perStranger.company()
    const from = (address: string) => ({ headers: { "x-forwarded-for": `203.0.113.9, ${address}` } })
    for (const [way, tried] of [
      [path, "sr_regtest_000000000000_x"],
      ["/operator/companies", "a guess"]
    ] as const) {
      const answer = await perStranger.ask("GET", way, { key: tried, ...from("192.0.2.1") })
      assert.strictEqual(answer.status, 401, answer.text)
    }
    for (const way of [path, "/v1/events/stream", "/operator/companies"]) {
      const answer = await perStranger.ask("GET", way, { key: "a guess", ...from("192.0.2.1") })
      assert.deepStrictEqual(seen(answer), bad(429, "rate_limited"))
    }
    assert.strictEqual(
      (await perStranger.ask("GET", path, { key: "a guess", ...from("192.0.2.2") })).status,
      401
    )
    assert.strictEqual((await perStranger.ask("GET", path, { key, ...from("192.0.2.1") })).status, 200)
    assert.strictEqual(
      (await perStranger.ask("GET", "/operator/companies", { key: operatorToken, ...from("192.0.2.1") }))
        .status,
      200
    )
  })

  it("request rates: a caller is counted by address, although the proxy appends the port of each connection", async () => {
    const askFrom = async (address: string) =>
      (
        await perStranger.ask("GET", path, {
          key: "a guess",
          headers: { "x-forwarded-for": `203.0.113.9, ${address}` }
        })
      ).status
    for (const address of ["192.0.2.77", "[2001:db8:77::1]"]) {
      const statuses = [
        await askFrom(`${address}:50001`),
        await askFrom(`${address}:50002`),
        await askFrom(`${address}:50003`)
      ]
      assert.deepStrictEqual(statuses, [401, 401, 429], address)
    }
  })

  it("request rates: responses have no rate headers if no limit is set", async () => {
    const { key } = await open.company()
    for (let i = 0; i < 5; i++)
      assert.deepStrictEqual(told(await open.ask("GET", path, { key })), [200, null, null, null])
    assert.deepStrictEqual(told(await open.ask("GET", path)), [401, null, null, null])
  })
})
