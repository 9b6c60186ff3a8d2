import { afterAll, assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { AuditLog, link } from "@satrail/core/features/audit/AuditLog"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "../src/Api.ts"
import { OperatorAuthentication, operatorScopesOf } from "../src/api/Authentication.ts"
import { operatorToken, start } from "./Service.ts"
import { failedDelivery } from "./FailedDelivery.ts"
import { lost } from "./Lost.ts"
import { suspended } from "./Suspended.ts"

const service = await start()
afterAll(service.dispose)

const ask = (method: string, path: string, body?: unknown, key = operatorToken, headers: Record<string, string> = {}) =>
  service.ask(method, `/operator${path}`, { key, headers, ...(body !== undefined && { body }) })
const created = async (path: string, body: unknown) => (await ask("POST", path, body)).body.data

/** The request for a verb, the path that shows its effect, and the outcome of a repetition. */
interface Verb {
  readonly path: string
  readonly body?: unknown
  readonly sees: string
  /**
   * `same` (default): the repetition changes nothing. `once`: with an Idempotency-Key, the response is the
   * same. `another`: each request creates another secret, which is shown only once. Any other value is the
   * code of a refusal.
   */
  readonly again?: string
}

const { id } = await service.company("free")
const of = (path: string) => `/companies/${id}${path}`
const url = "https://ops.example/events"
const key = async (): Promise<string> => (await created(of("/api-keys"), { name: "till", scopes: ["read"] })).id
/** A key that waits for a second operator, because its company has money. */
const requested = async (): Promise<string> => {
  const funded = await service.company("free")
  await service.fund(funded.key, 1000)
  return (await created(`/companies/${funded.id}/api-keys`, { name: "till", scopes: ["send"] })).id
}
const adjustment = async (): Promise<string> => (await created("/adjustments", { company_id: id, amount_sats: 5, reason: "a drill" })).id
/** A member of a company. A member who can send waits for a second operator if the company has money. */
const invited = async (company_id = id, role = "viewer"): Promise<string> =>
  (await created("/people", { company_id, name: "Ada", role })).id
const funded = await service.company("free")
await service.fund(funded.key, 1000)
const admitted = await invited(funded.id, "admin")
const endpoint = async (): Promise<string> => (await created("/webhook-endpoints", { url })).id

/** A failed delivery to an endpoint of the operator. */
const undelivered = async () => failedDelivery(service, CompanyId.operator, await endpoint(), id)

const [limited, confined, revoked, rotated, connected] = [await key(), await key(), await key(), await key(), await key()]
const [paid, unpaid] = [await lost(service, funded.id), await lost(service, funded.id)]
const waiting = await requested()
const [approved, rejected, assigned] = [await adjustment(), await adjustment(), await suspended(service, id)]
const [changed, deleted, disabled, enabled, replayed, tested] = [
  await endpoint(),
  await endpoint(),
  await endpoint(),
  await endpoint(),
  await endpoint(),
  await endpoint()
]
await ask("POST", `/webhook-endpoints/${enabled}/disable`)
const eventId: string = (
  await service.ask("GET", "/v1/events", { key: (await created(of("/api-keys"), { name: "reads", scopes: ["admin"] })).key })
).body.data[0]?.id
const token: string = (await created("/tokens", { name: "leaves", scopes: ["read"] })).id

/** All operator verbs by route. */
const verbs: Readonly<Record<string, Verb>> = {
  "POST /operator/companies": { path: "/companies", body: { name: "Acme", plan: "free" }, sees: "/companies", again: "once" },
  "PATCH /operator/companies/:id": { path: of(""), body: { plan: "paid" }, sees: of("") },
  "POST /operator/companies/:companyId/domains": { path: of("/domains"), body: { domain: "acme.example" }, sees: of("/domains") },
  "PUT /operator/companies/:id/fees": { path: of("/fees"), body: { lightning: { parts_per_million: 1000 } }, sees: of("/fees") },
  "PATCH /operator/companies/:id/fees": { path: of("/fees"), body: { lightning: { parts_per_million: 900 } }, sees: of("/fees") },
  "PATCH /operator/companies/:id/limits": { path: of("/limits"), body: { hour_sats: 100 }, sees: of("/limits") },
  "PATCH /operator/api-keys/:id/limits": { path: `/api-keys/${limited}/limits`, body: { hour_sats: 100 }, sees: `/api-keys/${limited}` },
  "PUT /operator/companies/:id/limits": { path: of("/limits"), body: { hour_sats: 100, day_sats: 1000 }, sees: of("/limits") },
  "POST /operator/companies/:id/freeze": { path: of("/freeze"), body: { reason: "a drill", pending: "wait" }, sees: of("") },
  "POST /operator/companies/:id/unfreeze": { path: of("/unfreeze"), sees: of("") },
  "POST /operator/companies/:id/api-keys": {
    path: of("/api-keys"),
    body: { name: "till", scopes: ["read"] },
    sees: of("/api-keys"),
    again: "another"
  },
  "PUT /operator/api-keys/:id/limits": {
    path: `/api-keys/${limited}/limits`,
    body: { hour_sats: 100, day_sats: 1000 },
    sees: `/api-keys/${limited}`
  },
  "PUT /operator/api-keys/:id/allowed-from": {
    path: `/api-keys/${confined}/allowed-from`,
    body: { allowed_from: { for: "everything", ranges: ["203.0.113.0/24"] } },
    sees: `/api-keys/${confined}`
  },
  "POST /operator/api-keys/:id/rotate": {
    path: `/api-keys/${rotated}/rotate`,
    body: { overlap_seconds: 0 },
    sees: of("/api-keys"),
    again: "not_found"
  },
  "POST /operator/api-keys/:id/approve": { path: `/api-keys/${waiting}/approve`, sees: `/api-keys/${waiting}` },
  "POST /operator/api-keys/:id/connect": {
    path: `/api-keys/${connected}/connect`,
    sees: `/api-keys/${connected}/wallet-connection`,
    again: "malformed"
  },
  "DELETE /operator/api-keys/:id": { path: `/api-keys/${revoked}`, sees: `/api-keys/${revoked}` },
  "POST /operator/tokens": { path: "/tokens", body: { name: "Ada", scopes: ["read"] }, sees: "/tokens", again: "another" },
  "DELETE /operator/tokens/:id": { path: `/tokens/${token}`, sees: "/tokens" },
  "POST /operator/people": {
    path: "/people",
    body: { company_id: id, name: "Ada", role: "viewer" },
    sees: `/people?company_id=${id}`,
    again: "another"
  },
  "POST /operator/people/:id/approve": { path: `/people/${admitted}/approve`, sees: `/people?company_id=${funded.id}` },
  "POST /operator/people/:id/recover": {
    path: `/people/${await invited()}/recover`,
    sees: `/people?company_id=${id}`,
    again: "another"
  },
  "DELETE /operator/people/:id": { path: `/people/${await invited()}`, sees: `/people?company_id=${id}` },
  "POST /operator/pause": { path: "/pause", body: { what: "sending" }, sees: "/pause" },
  "POST /operator/resume": { path: "/resume", body: { what: "sending" }, sees: "/pause" },
  "PATCH /operator/reconciliation/own-funds": { path: "/reconciliation/own-funds", body: { node_sats: 10 }, sees: "/reconciliation" },
  "POST /operator/withdrawals/:id/settle": {
    path: `/withdrawals/${paid.id}/settle`,
    body: { preimage: paid.preimage, fee_sats: 1 },
    sees: `/withdrawals/${paid.id}`
  },
  "POST /operator/withdrawals/:id/release": { path: `/withdrawals/${unpaid.id}/release`, sees: `/withdrawals/${unpaid.id}` },
  "POST /operator/suspense/:id/assign": { path: `/suspense/${assigned}/assign`, body: { company_id: id }, sees: "/suspense" },
  "POST /operator/adjustments": {
    path: "/adjustments",
    body: { company_id: id, amount_sats: 5, reason: "a drill" },
    sees: "/adjustments",
    again: "once"
  },
  "POST /operator/adjustments/:id/approve": { path: `/adjustments/${approved}/approve`, sees: `/adjustments/${approved}` },
  "POST /operator/adjustments/:id/reject": { path: `/adjustments/${rejected}/reject`, sees: `/adjustments/${rejected}` },
  "POST /operator/webhook-endpoints": { path: "/webhook-endpoints", body: { url }, sees: "/webhook-endpoints", again: "another" },
  "PUT /operator/webhook-endpoints/:id": {
    path: `/webhook-endpoints/${changed}`,
    body: { url, types: ["deposit.*"] },
    sees: `/webhook-endpoints/${changed}`
  },
  "PATCH /operator/webhook-endpoints/:id": {
    path: `/webhook-endpoints/${changed}`,
    body: { description: "Patched" },
    sees: `/webhook-endpoints/${changed}`
  },
  "DELETE /operator/webhook-endpoints/:id": {
    path: `/webhook-endpoints/${deleted}`,
    sees: `/webhook-endpoints/${deleted}`
  },
  "POST /operator/webhook-endpoints/:id/disable": {
    path: `/webhook-endpoints/${disabled}/disable`,
    sees: `/webhook-endpoints/${disabled}`
  },
  "POST /operator/webhook-endpoints/:id/enable": {
    path: `/webhook-endpoints/${enabled}/enable`,
    body: {},
    sees: `/webhook-endpoints/${enabled}`
  },
  "POST /operator/webhook-endpoints/:id/replay": {
    path: `/webhook-endpoints/${replayed}/replay`,
    body: { replay_from: eventId },
    sees: `/webhook-endpoints/${replayed}`
  },
  "POST /operator/webhook-endpoints/:id/rotate-secret": {
    path: `/webhook-endpoints/${replayed}/rotate-secret`,
    body: {},
    sees: `/webhook-endpoints/${replayed}`,
    again: "another"
  },
  "POST /operator/webhook-endpoints/:id/test": { path: `/webhook-endpoints/${tested}/test`, sees: `/webhook-endpoints/${tested}` },
  "POST /operator/webhook-deliveries/:id/resend": {
    path: `/webhook-deliveries/${await undelivered()}/resend`,
    sees: "/webhook-endpoints"
  }
}

interface Operation {
  readonly group: string
  readonly endpoint: HttpApiEndpoint.Top
}
const groups: ReadonlyArray<{ readonly identifier: string; readonly endpoints: Readonly<Record<string, HttpApiEndpoint.Top>> }> =
  Object.values(Api.groups)
const operations = new Map<string, Operation>(
  groups.flatMap(({ identifier, endpoints }) =>
    Object.values(endpoints)
      .filter(({ method, middlewares }) => method !== "GET" && [...middlewares].some(({ key }) => key === OperatorAuthentication.key))
      .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, { group: identifier, endpoint }])
  )
)

const scopes = ["read", "stop", "loosen", "mend", "companies"] as const

describe("operator actions", () => {
  it("operator verbs: every operator route that changes data is tested", () => {
    assert.sameMembers([...operations.keys()], Object.keys(verbs))
  })

  for (const [name, { path, body, sees, again = "same" }] of Object.entries(verbs)) {
    it(`operator verbs: ${name}: the request requires its scope, ${again === "same" ? "a repeat changes nothing" : `a repeat has the outcome "${again}"`}, and the audit log names the token`, async () => {
      const { group, endpoint } = operations.get(name) ?? assert.fail(name)
      const rights: ReadonlyArray<string> = operatorScopesOf(endpoint)
      const issue = (of: string, scopes: ReadonlyArray<string>) => created("/tokens", { name: `${of} ${name}`, scopes })
      const without = await issue(
        "without",
        scopes.filter((scope) => !rights.includes(scope))
      )
      const has = await issue("with", rights.slice(0, 1))
      const method = endpoint.method
      const headers: Record<string, string> = again === "once" ? { "idempotency-key": path } : {}
      const seen = async () => {
        const { status, body } = await ask("GET", sees)
        // An endpoint shows the time of its last change, which always differs.
        const { updated_at: _, ...data } = body.data ?? {}
        return { status, data: Array.isArray(body.data) ? body.data : data }
      }

      const untouched = await seen()
      const refused = await ask(method, path, body, without.token, headers)
      assert.deepStrictEqual([refused.status, refused.body.error?.code], [403, "scope_required"], refused.text)
      assert.deepStrictEqual(await seen(), untouched)

      const first = await ask(method, path, body, has.token, headers)
      assert.isBelow(first.status, 300, first.text)
      assert.isNotEmpty(first.body.message)
      const after = await seen()
      const second = await ask(method, path, body, has.token, headers)
      if (again === "same") assert.isBelow(second.status, 300, second.text)
      else if (again === "once") assert.strictEqual(second.text, first.text)
      else if (again === "another") assert.strictEqual(second.status, first.status)
      else assert.strictEqual(second.body.error?.code, again, second.text)
      if (again !== "another") assert.deepStrictEqual(await seen(), after)

      await service.run(Effect.flatMap(AuditLog, ({ flush }) => flush))
      await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
      const entries = async (
        token: string
      ): Promise<ReadonlyArray<{ readonly verb: string; readonly outcome: string; readonly actor_name: string }>> =>
        (await ask("GET", `/audit?actor_id=${token}`)).body.data
      const [done] = (await entries(has.id)).toReversed()
      assert.deepInclude(done, { verb: `${group}.${endpoint.identifier}`, outcome: "done", actor_name: `with ${name}` })
      const [turnedAway] = await entries(without.id)
      assert.deepInclude(turnedAway, { verb: `${group}.${endpoint.identifier}`, outcome: "scope_required", actor_name: `without ${name}` })
    })
  }
})
