import { Records } from "@satrail/core/service/Records"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import { Effect } from "effect"
import { type Answer, bad, operatorToken, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
const other = await service.company("paid")
await service.fund(company.key, 500_000)
await service.fund(other.key, 500_000)
const depositId: string = (await service.ask("GET", "/v1/transactions?type=deposit", { key: company.key }))
  .body.data[0].id
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))

const events = () =>
  service.run(
    Effect.flatMap(Records, (records) => Effect.map(records.events(0n, 1_000_000), (all) => all.length))
  )
const post = (path: string, body: string | object | undefined, idempotencyKey: string, key = company.key) =>
  service.ask("POST", path, {
    key,
    ...(body !== undefined && { body }),
    headers: { "idempotency-key": idempotencyKey }
  })

const withdraw = "/v1/bitcoin/withdraw/confirm"
const send = "/v1/bitcoin/send/confirm"
const confirmBody = `{"amount": 1000, "currency": "sats", "destination": "${destination}"}`

const refundBody = `{"amount":21,"currency":"sats","deposit_id":"${depositId}"}`

/** All endpoints that create a record. */
const creations: Record<string, readonly [body: string, another: string, key: string]> = {
  "/v1/bitcoin/deposit/lightning-invoice": [
    `{"amount":21,"currency":"sats"}`,
    `{"amount":22,"currency":"sats"}`,
    company.key
  ],
  "/v1/bitcoin/deposit/lightning-address": [`{}`, `{"metadata":{"shop":"a"}}`, company.key],
  "/v1/bitcoin/deposit/on-chain": [`{}`, `{"address_type":"segwit"}`, company.key],
  "/v1/bitcoin/deposit/offer": [`{}`, `{"description":"tea"}`, company.key],
  "/v1/vouchers": [`{"amount":21,"currency":"sats"}`, `{"amount":22,"currency":"sats"}`, company.key],
  "/v1/checkouts": [`{"amount":21,"currency":"sats"}`, `{"amount":22,"currency":"sats"}`, company.key],
  "/v1/transfers": [
    `{"to":"${other.id}","amount":21,"currency":"sats"}`,
    `{"to":"${other.id}","amount":22,"currency":"sats"}`,
    company.key
  ],
  "/v1/refunds": [refundBody, refundBody.replace("21", "22"), company.key],
  [withdraw]: [confirmBody, confirmBody.replace("1000", "1001"), company.key],
  [send]: [confirmBody, confirmBody.replace("1000", "1001"), company.key],
  "/operator/companies": [`{"name":"a","plan":"free"}`, `{"name":"b","plan":"free"}`, operatorToken]
}

/** The parts of a response that identify a replay: the first response's bytes and the header. */
const told = ({ status, text, headers }: Answer) => [
  status,
  headers.get("content-type")?.split(";")[0],
  headers.get("idempotency-replayed"),
  text
]
const replayOf = (first: Answer) => [201, "application/json", "true", first.text]

for (const [path, [body, another, key]] of Object.entries(creations)) {
  describe(`POST ${path}`, () => {
    it(`idempotency key: POST ${path}: a request repeated with the same key and body takes effect once, and the responses have the same bytes`, async () => {
      const first = await post(path, body, `once-${path}`, key)
      assert.strictEqual(first.status, 201, first.text)
      assert.isNull(first.headers.get("idempotency-replayed"))
      const before = await events()
      for (let i = 0; i < 3; i++)
        assert.deepStrictEqual(told(await post(path, body, `once-${path}`, key)), replayOf(first))
      assert.strictEqual(await events(), before)
    })

    it(`idempotency key: POST ${path}: twenty concurrent requests take effect once, and all get the same response`, async () => {
      const before = await events()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post(path, body, `race-${path}`, key))
      )
      assert.deepStrictEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
      assert.strictEqual(answers[0]?.status, 201)
      const once = (await events()) - before
      await post(path, body, `alone-${path}`, key)
      assert.strictEqual((await events()) - before, 2 * once)
    })

    it(`idempotency key: POST ${path}: the same key with another body returns 422 and has no effect`, async () => {
      const first = await post(path, body, `other-${path}`, key)
      const before = await events()
      const answer = await post(path, another, `other-${path}`, key)
      assert.deepStrictEqual(
        [answer.status, answer.body.error?.code, answer.body.data],
        [422, "idempotency_mismatch", null]
      )
      assert.strictEqual(await events(), before)
      assert.deepStrictEqual(told(await post(path, body, `other-${path}`, key)), replayOf(first))
    })

    it(`idempotency key: POST ${path}: a key has 1 to 255 visible ASCII characters`, async () => {
      // The endpoints share the company's idempotency keys, so each uses its own letter.
      const letter = String.fromCharCode(97 + Object.keys(creations).indexOf(path))
      for (const good of [letter, `!~${letter}`, letter.repeat(255)])
        assert.strictEqual((await post(path, body, good, key)).status, 201)
      for (const bad of ["", "a b", "x".repeat(256), "ü", "a\tb"]) {
        const answer = await post(path, body, bad, key)
        assert.deepStrictEqual(
          [bad, answer.status, answer.body.error?.issues?.[0]?.path],
          [bad, 400, "idempotency-key"]
        )
        assert.strictEqual(answer.body.message, "Idempotency-Key must be 1 to 255 visible ASCII characters")
      }
    })

    it(`idempotency key: POST ${path}: each request without a key takes effect`, async () => {
      const ask = () => service.ask("POST", path, { key, body })
      assert.notStrictEqual((await ask()).text, (await ask()).text)
    })
  })
}

it("idempotency key: the two paths of confirm count as one operation", async () => {
  const first = await post(withdraw, confirmBody, "spelling")
  assert.deepStrictEqual(told(await post(send, confirmBody, "spelling")), replayOf(first))
})

it("idempotency key: the same key for two operations returns 422", async () => {
  assert.strictEqual((await post("/v1/bitcoin/deposit/on-chain", "{}", "two")).status, 201)
  assert.strictEqual(
    (await post("/v1/bitcoin/deposit/lightning-address", "{}", "two")).body.error?.code,
    "idempotency_mismatch"
  )
})

it("idempotency key: two companies may use the same key", async () => {
  for (const [path, body] of [
    ["/v1/bitcoin/deposit/on-chain", {}],
    ["/v1/api-keys", { name: "a", scopes: ["read"] }]
  ] as const) {
    const mine = await post(path, body, `shared-${path}`)
    const theirs = await post(path, body, `shared-${path}`, other.key)
    assert.strictEqual(theirs.status, 201, theirs.text)
    assert.notStrictEqual(theirs.text, mine.text)
  }
})

it("idempotency key: a request without a body is the same as one with an empty body", async () => {
  const first = await post("/v1/bitcoin/deposit/on-chain", undefined, "empty")
  assert.deepStrictEqual(told(await post("/v1/bitcoin/deposit/on-chain", "", "empty")), replayOf(first))
})

it("idempotency key: a repeated request returns the first response, even if the withdrawal's status has changed", async () => {
  const first = await post(withdraw, confirmBody, "later")
  await service.work()
  const now = await service.ask("GET", `/v1/transactions/withdrawals/${first.body.data.id}`, {
    key: company.key
  })
  assert.strictEqual(now.body.data.status, "settled")
  assert.deepStrictEqual(told(await post(withdraw, confirmBody, "later")), replayOf(first))
})

it("C23: idempotency key: a repeated request returns the stored response before any check, even if the destination is unreachable", async () => {
  const first = await post(withdraw, confirmBody, "paused")
  await service.sandbox((sandbox) => sandbox.pause("web"))
  try {
    assert.strictEqual(
      (await post(withdraw, confirmBody, "not-seen-before")).body.error?.code,
      "recipient_unreachable"
    )
    assert.deepStrictEqual(told(await post(withdraw, confirmBody, "paused")), replayOf(first))
  } finally {
    await service.sandbox((sandbox) => sandbox.resume("web"))
  }
})

it("idempotency key: a rejected request may be retried with the same key", async () => {
  const poor = await service.company("paid")
  const refused = await post(withdraw, confirmBody, "again", poor.key)
  assert.strictEqual(refused.body.error?.code, "insufficient_balance")
  await service.fund(poor.key, 5000)
  assert.strictEqual((await post(withdraw, confirmBody, "again", poor.key)).status, 201)
})

describe("records created by operators, and domains, with an Idempotency-Key", () => {
  const asOperator = (path: string, body: object, idempotencyKey: string) =>
    post(path, body, idempotencyKey, operatorToken)
  const issuePath = (id: string) => `/operator/companies/${id}/api-keys`
  const keyOf = async () =>
    (await asOperator(issuePath(company.id), { name: "old", scopes: ["read"] }, crypto.randomUUID())).body
      .data
  const show = (domain: string) =>
    service.run(
      Effect.flatMap(SimulatedDns.SimulatedDns, ({ set }) =>
        set(`_satrail-verify.${domain}`, [`satrail-verify=${company.id}`])
      )
    )

  /** The request for each creation, another body, and, if the path has an id, the path with another id. */
  const creations: Readonly<
    Record<
      string,
      () => Promise<{
        readonly key: string
        readonly path: string
        readonly body: object
        readonly another: object
        readonly elsewhere?: string
      }>
    >
  > = {
    "an API key": async () => ({
      key: operatorToken,
      path: issuePath(company.id),
      body: { name: "a", scopes: ["read"] },
      another: { name: "b", scopes: ["read"] },
      elsewhere: issuePath((await service.company()).id)
    }),
    "a company's own API key": async () => ({
      key: company.key,
      path: "/v1/api-keys",
      body: { name: "a", scopes: ["read"] },
      another: { name: "b", scopes: ["read"] }
    }),
    "a rotated API key": async () => ({
      key: operatorToken,
      path: `/operator/api-keys/${(await keyOf()).id}/rotate`,
      body: { overlap_seconds: 0 },
      another: { overlap_seconds: 1 },
      elsewhere: `/operator/api-keys/${(await keyOf()).id}/rotate`
    }),
    "a domain verified by the operator": async () => ({
      key: operatorToken,
      path: `/operator/companies/${company.id}/domains`,
      body: { domain: "vouched.example" },
      another: { domain: "another.example" },
      elsewhere: `/operator/companies/${(await service.company()).id}/domains`
    }),
    "a domain verified by its TXT record": async () => {
      for (const domain of ["shown.example", "another-shown.example"]) await show(domain)
      return {
        key: company.key,
        path: "/v1/domains",
        body: { domain: "shown.example" },
        another: { domain: "another-shown.example" }
      }
    }
  }
  for (const [what, make] of Object.entries(creations)) {
    it(`idempotency key: ${what}: eight concurrent requests and a repeated one get the same bytes, and only one takes effect`, async () => {
      const { key, path, body, another, elsewhere } = await make()
      const once = crypto.randomUUID()
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(path, body, once, key)))
      const later = await post(path, body, once, key)
      for (const { status, text } of [...answers, later])
        assert.deepStrictEqual([status, text], [201, later.text])
      assert.strictEqual(later.headers.get("idempotency-replayed"), "true")
      for (const [to, said] of [
        [path, another],
        [elsewhere ?? path, elsewhere === undefined ? another : body]
      ] as const)
        assert.deepStrictEqual(seen(await post(to, said, once, key)), bad(422, "idempotency_mismatch"), to)
    })
  }

  it("idempotency key: a repeated rotation does not rotate a second key", async () => {
    const old = await keyOf()
    const ask = () => asOperator(`/operator/api-keys/${old.id}/rotate`, { overlap_seconds: 0 }, "rotate-1")
    const [first, again] = [await ask(), await ask()]
    assert.strictEqual(again.text, first.text)
    assert.notStrictEqual(first.body.data.id, old.id)
    // Without the idempotency key this is a new request, for a key that no longer exists.
    const another = await service.ask("POST", `/operator/api-keys/${old.id}/rotate`, {
      key: operatorToken,
      body: { overlap_seconds: 0 }
    })
    assert.deepStrictEqual(seen(another), bad(404, "not_found"))
  })

  it("idempotency key: the response is stored even if the domain already belongs to the company", async () => {
    await show("mine.example")
    const body = { domain: "mine.example" }
    await service.ask("POST", "/v1/domains", { key: company.key, body })
    const first = await post("/v1/domains", body, "mine", company.key)
    assert.isNull(first.headers.get("idempotency-replayed"))
    const again = await post("/v1/domains", body, "mine", company.key)
    assert.deepStrictEqual([again.text, again.headers.get("idempotency-replayed")], [first.text, "true"])
    assert.deepStrictEqual(
      seen(await post("/v1/domains", { domain: "shown.example" }, "mine", company.key)),
      bad(422, "idempotency_mismatch")
    )
  })

  it("idempotency key: an idempotency key for a new API key is rejected if no secret is set to encrypt the response", async () => {
    const bare = await start({ sealer: undefined })
    const { id } = await bare.company()
    const ask = {
      key: operatorToken,
      body: { name: "a", scopes: ["read"] },
      headers: { "idempotency-key": "k" }
    }
    assert.deepStrictEqual(
      seen(await bare.ask("POST", issuePath(id), ask)),
      bad(400, "idempotency_not_supported")
    )
    await bare.dispose()
  })
})
