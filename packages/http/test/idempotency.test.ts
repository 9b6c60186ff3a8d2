import { Records } from "@satrail/core/service/Records"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
const other = await service.company("paid")
await service.fund(company.key, 500_000)
await service.fund(other.key, 500_000)
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))

const events = () => service.run(Effect.flatMap(Records, (records) => Effect.map(records.events(0n, 1_000_000), (all) => all.length)))
const post = (path: string, body: string | undefined, idempotencyKey: string, key = company.key) =>
  service.ask("POST", path, { key, ...(body !== undefined && { body }), headers: { "idempotency-key": idempotencyKey } })

const withdraw = "/v1/bitcoin/withdraw/confirm"
const send = "/v1/bitcoin/send/confirm"
const confirmBody = `{"amount": 1000, "currency": "sats", "destination": "${destination}"}`

/** Every endpoint that creates something. */
const creations: Record<string, readonly [body: string, another: string, key: string]> = {
  "/v1/bitcoin/deposit/lightning-invoice": [`{"amount":21,"currency":"sats"}`, `{"amount":22,"currency":"sats"}`, company.key],
  "/v1/bitcoin/deposit/lightning-address": [`{}`, `{"metadata":{}}`, company.key],
  "/v1/bitcoin/deposit/on-chain": [`{}`, `{"address_type":"segwit"}`, company.key],
  "/v1/vouchers": [`{"amount":21,"currency":"sats"}`, `{"amount":22,"currency":"sats"}`, company.key],
  [withdraw]: [confirmBody, confirmBody.replace("1000", "1001"), company.key],
  [send]: [confirmBody, confirmBody.replace("1000", "1001"), company.key],
  "/operator/companies": [`{"name":"a","plan":"free"}`, `{"name":"b","plan":"free"}`, operatorToken]
}

/** What a replay is told by: the bytes of the first answer, and the header. */
const told = ({ status, text, headers }: Answer) => [
  status,
  headers.get("content-type")?.split(";")[0],
  headers.get("idempotency-replayed"),
  text
]
const replayOf = (first: Answer) => [201, "application/json", "true", first.text]

for (const [path, [body, another, key]] of Object.entries(creations)) {
  describe(`POST ${path}`, () => {
    it(`idempotency key: POST ${path}: the same key and body take effect once, with the same bytes in response`, async () => {
      const first = await post(path, body, `once-${path}`, key)
      assert.strictEqual(first.status, 201, first.text)
      assert.isNull(first.headers.get("idempotency-replayed"))
      const before = await events()
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(told(await post(path, body, `once-${path}`, key)), replayOf(first))
      assert.strictEqual(await events(), before)
    })

    it(`idempotency key: POST ${path}: twenty at once take effect once, and all get its response`, async () => {
      const before = await events()
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(path, body, `race-${path}`, key)))
      assert.deepStrictEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
      assert.strictEqual(answers[0]?.status, 201)
      assert.strictEqual(await events(), before + 1)
    })

    it(`idempotency key: POST ${path}: the same key with another body is 422, also one that only looks the same`, async () => {
      const first = await post(path, body, `other-${path}`, key)
      const before = await events()
      for (const changed of [another, ` ${body}`]) {
        const answer = await post(path, changed, `other-${path}`, key)
        assert.deepStrictEqual([answer.status, answer.body.error?.code, answer.body.data], [422, "idempotency_mismatch", null])
      }
      assert.strictEqual(await events(), before)
      assert.deepStrictEqual(told(await post(path, body, `other-${path}`, key)), replayOf(first))
    })

    it(`idempotency key: POST ${path}: 1 to 255 visible ASCII characters`, async () => {
      // The endpoints share the company's keys: each has its own letter here.
      const letter = String.fromCharCode(97 + Object.keys(creations).indexOf(path))
      for (const good of [letter, `!~${letter}`, letter.repeat(255)]) assert.strictEqual((await post(path, body, good, key)).status, 201)
      for (const bad of ["", "a b", "x".repeat(256), "ü", "a\tb"]) {
        const answer = await post(path, body, bad, key)
        assert.deepStrictEqual([bad, answer.status, answer.body.error?.issues?.[0]?.path], [bad, 400, "idempotency-key"])
      }
    })

    it(`idempotency key: POST ${path}: without one each request takes effect`, async () => {
      const ask = () => service.ask("POST", path, { key, body })
      assert.notStrictEqual((await ask()).text, (await ask()).text)
    })
  })
}

it("idempotency key: the two spellings of confirm are one operation", async () => {
  const first = await post(withdraw, confirmBody, "spelling")
  assert.deepStrictEqual(told(await post(send, confirmBody, "spelling")), replayOf(first))
})

it("idempotency key: one for two operations is 422", async () => {
  assert.strictEqual((await post("/v1/bitcoin/deposit/on-chain", "{}", "two")).status, 201)
  assert.strictEqual((await post("/v1/bitcoin/deposit/lightning-address", "{}", "two")).body.error?.code, "idempotency_mismatch")
})

it("idempotency key: two companies may use the same one", async () => {
  const mine = await post("/v1/bitcoin/deposit/on-chain", "{}", "shared")
  const theirs = await post("/v1/bitcoin/deposit/on-chain", "{}", "shared", other.key)
  assert.strictEqual(theirs.status, 201)
  assert.notStrictEqual(theirs.text, mine.text)
})

it("idempotency key: no body and an empty one are the same request", async () => {
  const first = await post("/v1/bitcoin/deposit/on-chain", undefined, "empty")
  assert.deepStrictEqual(told(await post("/v1/bitcoin/deposit/on-chain", "", "empty")), replayOf(first))
})

it("idempotency key: the response stays the same, whatever the withdrawal's later status", async () => {
  const first = await post(withdraw, confirmBody, "later")
  await service.work()
  const now = await service.ask("GET", `/v1/transactions/withdrawals/${first.body.data.id}`, { key: company.key })
  assert.strictEqual(now.body.data.status, "settled")
  assert.deepStrictEqual(told(await post(withdraw, confirmBody, "later")), replayOf(first))
})

it("C23: idempotency key: a replay comes before any check, also when the destination is unreachable", async () => {
  const first = await post(withdraw, confirmBody, "paused")
  await service.sandbox((sandbox) => sandbox.pause("web"))
  try {
    assert.strictEqual((await post(withdraw, confirmBody, "not-seen-before")).body.error?.code, "recipient_unreachable")
    assert.deepStrictEqual(told(await post(withdraw, confirmBody, "paused")), replayOf(first))
  } finally {
    await service.sandbox((sandbox) => sandbox.resume("web"))
  }
})

it("idempotency key: a refused request may be tried again with it", async () => {
  const poor = await service.company("paid")
  const refused = await post(withdraw, confirmBody, "again", poor.key)
  assert.strictEqual(refused.body.error?.code, "insufficient_balance")
  await service.fund(poor.key, 5000)
  assert.strictEqual((await post(withdraw, confirmBody, "again", poor.key)).status, 201)
})

it("idempotency key: refused by issue and rotate, since an API key's secret is never stored", async () => {
  const headers = { "idempotency-key": "x" }
  const issue = `/operator/companies/${company.id}/api-keys`
  const refused = await service.ask("POST", issue, { key: operatorToken, headers, body: { name: "a", scopes: ["read"] } })
  assert.deepStrictEqual([refused.status, refused.body.error?.code], [400, "idempotency_not_supported"])
  const {
    body: {
      data: { id }
    }
  } = await service.ask("POST", issue, { key: operatorToken, body: { name: "a", scopes: ["read"] } })
  const rotated = await service.ask("POST", `/operator/api-keys/${id}/rotate`, {
    key: operatorToken,
    headers,
    body: { overlap_seconds: 0 }
  })
  assert.deepStrictEqual([rotated.status, rotated.body.error?.code], [400, "idempotency_not_supported"])
})
