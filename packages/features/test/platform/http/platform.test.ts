import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Docs from "@satrail/service/http/pages/Docs"
import { Api } from "@satrail/service/http/Api"
import { link } from "../../../src/audit/core/AuditLog.ts"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import { PlatformKeys } from "../../../src/platform/core/PlatformKeys.ts"
import * as PlatformKey from "../../../src/platform/core/PlatformKey.ts"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Answer from "@satrail/core/ledger/Answer"
import { Effect, Redacted } from "effect"
import { type Answer as Response, operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const operate = (method: string, at: string, body?: unknown) =>
  service.ask(method, at, { key: operatorToken, ...(body !== undefined && { body }) })

const [ada, bob] = [
  { id: "ada", name: "Ada" },
  { id: "bob", name: "Bob" }
]
const keys = <A, E>(ask: (keys: PlatformKeys["Service"]) => Effect.Effect<A, E>) =>
  service.run(Effect.flatMap(PlatformKeys, ask))
type Asked = Partial<Parameters<PlatformKeys["Service"]["issue"]>[0]>

const request = async (asked: Asked) => {
  const ask = { name: "marketplace", scopes: ["send" as const], expiresAtMillis: null, by: ada, ...asked }
  const { key, text } = await keys(({ issue }) => Effect.flatMap(issue(ask), Answer.made))
  return { id: key.id, key: Redacted.value(text) }
}

/** A valid platform key. */
const issue = async (asked: Asked = {}) => {
  const made = await request({ scopes: ["read", "receive", "send"], ...asked })
  await keys(({ approve }) => approve(made.id, bob))
  return made
}

const ask = (
  key: string,
  account: string | undefined,
  method: string,
  at: string,
  body?: unknown,
  more = {}
) =>
  service.ask(method, at, {
    key,
    headers: { ...(account !== undefined && { "Satrail-Account": account }), ...more },
    ...(body !== undefined && { body })
  })

const refused = ({ status, body }: Response) => [status, body.error?.code]
const invoice = { amount: 21, currency: "sats" }
const invoices = "/v1/bitcoin/deposit/lightning-invoice"
const platform = await issue()
const [one, two] = [await service.company(), await service.company()]
await service.fund(one.key, 10_000)
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
const pay = (key: string, account: string, amount = 10) =>
  ask(key, account, "POST", "/v1/bitcoin/withdraw/confirm", { amount, currency: "sats", destination })

const operatorId = "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"

/** Every route for companies, with an id that does not exist where it has one. */
const routes = Object.values(Docs.whole(Api, { network: "regtest" }))
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are read by their names
  .flatMap(({ paths }: any) =>
    Object.entries<object>(paths).flatMap(([at, methods]) =>
      Object.keys(methods).map(
        (method) => [method.toUpperCase(), at.replaceAll(/\{[^}]+\}/g, operatorId)] as const
      )
    )
  )
  .filter(([, at]) => at.startsWith("/v1/"))

describe("platform", () => {
  it("platform: a key acts for the account that the header names, and for no other", async () => {
    const made = await ask(platform.key, one.id, "POST", invoices, invoice)
    assert.strictEqual(made.status, 201, made.text)
    const at = `${invoices}/${made.body.data.id}`
    assert.strictEqual((await ask(platform.key, one.id.toUpperCase(), "GET", at)).status, 200)
    assert.strictEqual((await service.ask("GET", at, { key: one.key })).status, 200)
    assert.deepStrictEqual(refused(await ask(platform.key, two.id, "GET", at)), [404, "not_found"])
    const account = await ask(platform.key, one.id, "GET", "/v1/account")
    assert.deepStrictEqual([account.body.data.id, account.body.data.api_key.id], [one.id, platform.id])
  })

  it("platform: every route rejects a request without the header, and with a company that does not exist", async () => {
    assert.isAbove(routes.length, 60)
    for (const [method, at] of routes) {
      if (at.startsWith("/v1/domains/tls")) continue
      const none = await ask(platform.key, undefined, method, at)
      assert.deepStrictEqual(refused(none), [400, "malformed"], `${method} ${at} ${none.text}`)
      assert.include(none.text, "Satrail-Account")
      const odd = await ask(platform.key, "shop", method, at)
      assert.deepStrictEqual(refused(odd), [400, "malformed"], `${method} ${at}`)
      const missing = await ask(platform.key, operatorId, method, at)
      assert.deepStrictEqual(refused(missing), [404, "not_found"], `${method} ${at}`)
    }
  })

  it("platform: every route rejects the header with a company's key", async () => {
    for (const [method, at] of routes) {
      const found = await ask(one.key, one.id, method, at)
      assert.deepStrictEqual(refused(found), [400, "malformed"], `${method} ${at} ${found.text}`)
      assert.include(found.text, "Satrail-Account")
    }
  })

  it("platform: an invalid key is rejected before its header is read", async () => {
    for (const text of [
      `${platform.key.slice(0, -1)}1`,
      "sp_regtest_",
      platform.key.replace("regtest", "mainnet")
    ])
      for (const account of [undefined, "shop", one.id])
        assert.strictEqual((await ask(text, account, "GET", "/v1/account")).status, 401)
  })

  it("platform: a key has only its scopes", async () => {
    const reader = await issue({ scopes: ["read"] })
    assert.strictEqual((await ask(reader.key, one.id, "GET", "/v1/transactions/balance")).status, 200)
    assert.deepStrictEqual(refused(await ask(reader.key, one.id, "POST", invoices, invoice)), [
      403,
      "scope_required"
    ])
    assert.deepStrictEqual(refused(await pay(reader.key, one.id)), [403, "scope_required"])
  })

  it("platform: no key shows or changes the company's keys and people", async () => {
    const admin = await issue({ scopes: ["admin"] })
    assert.strictEqual((await ask(admin.key, one.id, "GET", invoices)).status, 200)
    const managing = routes.filter(([, at]) => /^\/v1\/(?:api-keys|people)/.test(at))
    assert.isAbove(managing.length, 6)
    for (const [method, at] of managing)
      assert.deepStrictEqual(refused(await ask(admin.key, one.id, method, at)), [403, "scope_required"], at)
  })

  it("platform: a frozen account can be read and paid, but not send, and another account is not affected", async () => {
    const three = await service.company()
    await service.fund(three.key, 1000)
    const frozen = { reason: "a drill", pending: "wait" }
    assert.strictEqual((await operate("POST", `/operator/companies/${three.id}/freeze`, frozen)).status, 200)
    const own = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
      key: three.key,
      body: { amount: 10, currency: "sats", destination }
    })
    assert.notStrictEqual(own.status, 201)
    assert.deepStrictEqual(refused(await pay(platform.key, three.id)), refused(own))
    assert.strictEqual((await ask(platform.key, three.id, "POST", invoices, invoice)).status, 201)
    assert.strictEqual((await pay(platform.key, one.id)).status, 201)
  })

  it("platform: an idempotency key belongs to the account", async () => {
    const [a, b, again] = [
      await ask(platform.key, one.id, "POST", invoices, invoice, { "Idempotency-Key": "k" }),
      await ask(platform.key, two.id, "POST", invoices, invoice, { "Idempotency-Key": "k" }),
      await service.ask("POST", invoices, {
        key: one.key,
        body: invoice,
        headers: { "Idempotency-Key": "k" }
      })
    ]
    assert.notStrictEqual(a.body.data.id, b.body.data.id)
    assert.strictEqual(again.text, a.text)
  })

  it("platform: the key's limits count for each account separately, and the company's limits apply too", async () => {
    const limited = await issue({ limits: { dayCount: 2 } })
    const [a, b] = [await service.company(), await service.company()]
    for (const { key } of [a, b]) await service.fund(key, 1000)
    for (const { id } of [a, b])
      for (const expected of [201, 201, 422])
        assert.strictEqual((await pay(limited.key, id)).status, expected)
    const account = await ask(limited.key, a.id, "GET", "/v1/account")
    assert.strictEqual(account.body.data.api_key.remaining.day_count, 0)
    await operate("PUT", `/operator/companies/${b.id}/limits`, { day_count: 0 })
    assert.deepStrictEqual(refused(await pay(platform.key, b.id)), [422, "limit_exceeded"])
  })

  it("platform: a key that can send needs another operator's approval", async () => {
    const { id, key } = await request({})
    assert.strictEqual((await pay(key, one.id)).status, 401)
    const own = await keys(({ approve }) => Effect.flip(approve(id, ada)))
    assert.strictEqual(own._tag, "SameOperator")
    assert.strictEqual((await pay(key, one.id)).status, 401)
    await keys(({ approve }) => approve(id, bob))
    assert.strictEqual((await pay(key, one.id)).status, 201)
  })

  it("platform: a revoked key and a revoked request are not valid", async () => {
    const { id, key } = await issue()
    assert.strictEqual((await ask(key, one.id, "GET", "/v1/account")).status, 200)
    await keys(({ revoke }) => revoke(id))
    assert.strictEqual((await ask(key, one.id, "GET", "/v1/account")).status, 401)
    const waiting = await request({})
    await keys(({ revoke }) => revoke(waiting.id))
    const late = await keys(({ approve }) => Effect.flip(approve(waiting.id, bob)))
    assert.strictEqual(late._tag, "NotFound")
    assert.strictEqual((await ask(waiting.key, one.id, "GET", "/v1/account")).status, 401)
  })

  it("platform: a key is not valid from the moment when it expires", () => {
    const [id, secretHash] = ["0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", SecretHash.of("")]
    const key: PlatformKey.PlatformKey = {
      ...ApiKey.withoutSecret({
        id,
        companyId: CompanyId.operator,
        name: "",
        scopes: [],
        createdAtMillis: 0
      }),
      secretHash,
      expiresAtMillis: 1000,
      requestedById: null,
      requestedBy: null
    }
    assert.isUndefined(PlatformKey.refusal(key, 999))
    assert.strictEqual(PlatformKey.refusal(key, 1000)?.reason, "expired")
  })

  it("platform: a payment that waits for approval ends with the key that requested it", async () => {
    const five = await service.company()
    await service.fund(five.key, 1000)
    const approver = await service.keyFor(five.id, "approve")
    const asking = await issue({ limits: { approvalAboveSats: 5 } })
    const approve = async () => {
      const made = await pay(asking.key, five.id)
      assert.strictEqual(made.body.data.status, "pending_approval", made.text)
      return (end: () => Promise<unknown>) =>
        end().then(() =>
          service.ask("POST", `/v1/transactions/withdrawals/${made.body.data.id}/approve`, { key: approver })
        )
    }
    const [first, second] = [await approve(), await approve()]
    assert.strictEqual((await first(async () => {})).status, 200)
    const late = await second(() => keys(({ revoke }) => revoke(asking.id)))
    assert.deepStrictEqual(refused(late), [409, "requester_gone"])
  })

  it("platform: a key is accepted only from its allowed addresses", async () => {
    const far = await issue({ allowedFrom: { for: "everything", ranges: ["203.0.113.0/24"] } })
    assert.deepStrictEqual(refused(await ask(far.key, one.id, "GET", "/v1/account")), [
      403,
      "address_not_allowed"
    ])
  })

  it("platform: the account's audit log names the key, and the log and the records agree", async () => {
    const four = await service.company()
    await service.fund(four.key, 1000)
    assert.strictEqual((await pay(platform.key, four.id)).status, 201)
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { body } = await operate("GET", `/operator/audit?company_id=${four.id}`)
    const entry = body.data.find(({ actor_id }: { actor_id: string }) => actor_id === platform.id)
    assert.deepStrictEqual(
      [entry?.actor, entry?.actor_name, entry?.company_id],
      ["key", "marketplace", four.id]
    )
    const faults: Array<unknown> = []
    await service.run(verify(null, (fault) => Effect.sync(() => faults.push(fault))))
    assert.deepStrictEqual(faults, [])
  })
})
