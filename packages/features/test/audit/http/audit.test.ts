import { afterAll, assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { AuditLog, link } from "../../../src/audit/core/AuditLog.ts"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import { Effect } from "effect"
import { operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

interface Row {
  readonly id: string
  readonly actor: string
  readonly actor_id: string
  readonly actor_name: string
  readonly verb: string
  readonly subject: string | null
  readonly outcome: string
  readonly count: number
  readonly ip_address: string
  readonly seq: number | null
  readonly company_id: string
  readonly request_id: string
  readonly changes: ReadonlyArray<{
    record: string
    id: string
    field: string
    before: string | null
    after: string | null
  }>
}

const linked = () => service.run(Effect.repeat(link, { while: (count) => count > 0 }))
const flushed = () => service.run(Effect.flatMap(AuditLog, ({ flush }) => flush))
const log = async (key: string, query = ""): Promise<ReadonlyArray<Row>> => {
  await linked()
  return (await service.ask("GET", `/v1/audit${query}`, { key })).body.data
}
const everybody = async (query = ""): Promise<ReadonlyArray<Row>> => {
  await linked()
  return (await service.ask("GET", `/operator/audit${query}`, { key: operatorToken })).body.data
}
const said = (rows: ReadonlyArray<Row>) =>
  rows.map(({ actor, verb, outcome, count }) => `${actor} ${verb} ${outcome} ${count}`)
const voucher = { amount: 10, currency: "sats" }
const create = (key: string, body: object = voucher, headers: Record<string, string> = {}) =>
  service.ask("POST", "/v1/vouchers", { key, body, headers })

describe("the audit log", () => {
  it("audit: an entry names the key, the record and the request, but has no part of the request body", async () => {
    const { key } = await service.company("free")
    await service.fund(key, 1000)
    const { body } = await create(
      key,
      { ...voucher, description: "our secret" },
      { "x-request-id": "request-7" }
    )
    const [row, ...more] = await log(key, "?verb=vouchers.createVoucher")
    assert.deepInclude(row, {
      actor: "key",
      verb: "vouchers.createVoucher",
      subject: body.data.id,
      outcome: "done",
      count: 1,
      request_id: "request-7"
    })
    assert.isEmpty(more)
    assert.notInclude(JSON.stringify(await log(key)), "our secret")
    assert.isFalse((await log(key)).some(({ verb }) => verb.startsWith("receive.")))
  })

  it("audit: the entry for a changed limit has the old and the new values, and the entry for an issued key has the key's scopes and a hash", async () => {
    const { id } = await service.company("free")
    const issued = await service.ask("POST", `/operator/companies/${id}/api-keys`, {
      key: operatorToken,
      body: { name: "till", scopes: ["send"] }
    })
    for (const day_sats of [1000, 2000])
      await service.ask("PUT", `/operator/companies/${id}/limits`, { key: operatorToken, body: { day_sats } })
    const rows = (await everybody(`?company_id=${id}`)).flatMap(({ changes }) => changes)
    assert.deepInclude(rows, {
      record: "companies",
      id,
      field: "limits",
      before: '{"daySats":1000}',
      after: '{"daySats":2000}'
    })
    const ofKey = rows.filter(({ record }) => record === "api_keys")
    assert.deepInclude(ofKey, {
      record: "api_keys",
      id: issued.body.data.id,
      field: "scopes",
      before: null,
      after: '["send"]'
    })
    assert.match(ofKey.find(({ field }) => field === "secret_hash")?.after ?? "", /^[0-9a-f]{64}$/)
  })

  it("audit: the error names an invalid filter, and an upper-case company_id is accepted", async () => {
    const { id, key } = await service.company("free")
    await create(key)
    for (const [query, path] of [
      ["company_id=x", "company_id"],
      ["from=yesterday", "from"]
    ]) {
      const { status, body } = await service.ask("GET", `/operator/audit?${query}`, { key: operatorToken })
      assert.deepStrictEqual([status, body.error?.issues?.[0]?.path], [400, path])
    }
    const rows = await everybody(`?company_id=${id.toUpperCase()}`)
    assert.isTrue(rows.length > 0 && rows.every(({ company_id }) => company_id === id))
  })

  it("audit: a withdrawal, a canceled voucher, an endpoint and a domain have one entry each, and each entry names the right actor", async () => {
    const [{ key }, other] = [await service.company("paid"), await service.company("free")]
    await service.fund(key, 10_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const once = { "idempotency-key": "a" }
    const confirm = () =>
      service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
        key,
        body: { amount: 10, currency: "sats", destination },
        headers: once
      })
    await confirm()
    await confirm()
    const { body } = await create(key)
    await service.ask("POST", `/v1/vouchers/${body.data.id}/cancel`, { key })
    await service.ask("POST", "/v1/webhook-endpoints", { key, body: { url: "https://shop.example/hooks" } })
    const verbs = (await log(key)).filter(({ actor }) => actor === "key").map(({ verb }) => verb)
    assert.deepStrictEqual(verbs.toReversed(), [
      "send.confirm",
      "vouchers.createVoucher",
      "vouchers.cancelVoucher",
      "webhooks.createWebhookEndpoint"
    ])
    assert.isTrue((await log(other.key)).every(({ actor }) => actor !== "key"))
  })

  it("audit: an operator's entry names the token; the company's log omits the IP address", async () => {
    const { token, id } = (
      await service.ask("POST", "/operator/tokens", {
        key: operatorToken,
        body: { name: "Ada", scopes: ["companies"] }
      })
    ).body.data
    const company = await service.company("free")
    await service.ask("PATCH", `/operator/companies/${company.id}`, { key: token, body: { plan: "paid" } })
    const [row] = await log(company.key, "?verb=operator.updateCompany")
    assert.deepInclude(row, {
      actor: "operator",
      actor_id: id,
      actor_name: "Ada",
      outcome: "done",
      ip_address: ""
    })
    const [same] = await everybody(`?verb=operator.updateCompany&company_id=${company.id}`)
    assert.deepInclude(same, { actor_id: id, company_id: company.id })
    const [issued] = await everybody(`?verb=operatorTokens.issueOperatorToken&subject=${id}`)
    assert.deepInclude(issued, { actor_id: "root", outcome: "done" })
  })

  it("audit: a rejected request is recorded immediately, and its repetitions are combined into a second entry", async () => {
    const { key } = await service.company("free")
    for (let i = 0; i < 50; i++)
      assert.strictEqual((await create(key)).body.error?.code, "insufficient_balance")
    assert.deepStrictEqual(said(await log(key, "?verb=vouchers.createVoucher")), [
      "key vouchers.createVoucher insufficient_balance 1"
    ])
    await flushed()
    assert.deepStrictEqual(said(await log(key, "?verb=vouchers.createVoucher")), [
      "key vouchers.createVoucher insufficient_balance 49",
      "key vouchers.createVoucher insufficient_balance 1"
    ])
  })

  it("audit: a revoked key, a wrong secret or a missing scope is recorded in the company's log; an unknown key is recorded in no log", async () => {
    const company = await service.company("free")
    const { key, id } = (
      await service.ask("POST", `/operator/companies/${company.id}/api-keys`, {
        key: operatorToken,
        body: { name: "till", scopes: ["read"] }
      })
    ).body.data
    assert.strictEqual((await create(key)).body.error?.code, "scope_required")
    assert.strictEqual((await create(`${key.slice(0, -3)}zzz`)).body.error?.code, "unauthorized")
    const before = (await everybody("?limit=1000")).length
    assert.strictEqual((await create(key.replace(id, "1".repeat(12)))).body.error?.code, "unauthorized")
    assert.strictEqual((await everybody("?limit=1000")).length, before)
    assert.sameMembers(said(await log(company.key, `?actor_id=${id}`)), [
      "key vouchers.createVoucher scope_required 1",
      "key vouchers.createVoucher unauthorized 1"
    ])
    const { token } = (
      await service.ask("POST", "/operator/tokens", {
        key: operatorToken,
        body: { name: "Eve", scopes: ["read"] }
      })
    ).body.data
    await service.ask("POST", "/operator/companies", { key: token, body: { name: "a", plan: "free" } })
    const [row] = await everybody("?verb=operator.openCompany&outcome=scope_required")
    assert.deepInclude(row, { actor_name: "Eve", subject: null })
  })

  it("audit: an entry that cannot be read, or has an invalid time, is listed and does not hide other entries", async () => {
    const other = await start()
    const { key, id } = await other.company("free")
    const write = (body: string, atMillis: number) =>
      other.run(
        Effect.flatMap(AuditStore, (store) =>
          store.appendAudit([{ companyId: CompanyId.make(id), atMillis, body }])
        )
      )
    await write("{}", 7)
    await write("no JSON", 2 ** 62)
    await other.run(Effect.repeat(link, { while: (count) => count > 0 }))
    for (const [path, token] of [
      ["/v1/audit", key],
      ["/operator/audit", operatorToken]
    ] as const) {
      const { status, body } = await other.ask("GET", path, { key: token })
      assert.strictEqual(status, 200)
      const [last, first, ...more]: ReadonlyArray<Row> = body.data
      for (const row of [last, first])
        assert.deepInclude(row, { actor: "unknown", verb: "", outcome: "unreadable", subject: null })
      assert.isNotEmpty(more)
      const file = await other.ask("GET", `${path}?format=jsonl&outcome=unreadable`, { key: token })
      assert.strictEqual(file.text.trim().split("\n").length, 2)
    }
    await other.dispose()
  })

  it("audit: entries are numbered without gaps, and the hash chains are valid", async () => {
    const { key } = await service.company("free")
    await service.fund(key, 1000)
    for (let i = 0; i < 5; i++) await create(key)
    const all = await log(key)
    assert.deepStrictEqual(
      all.map(({ seq }) => seq),
      all.map((_, i) => all.length - i)
    )
    const faults: Array<unknown> = []
    await service.run(verify(null, (fault) => Effect.sync(() => faults.push(fault))))
    assert.deepStrictEqual(faults, [])
  })
})
