import { afterAll, assert, describe, it } from "@effect/vitest"
import { AuditLog, link } from "@satrail/features/audit/core/AuditLog"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "@satrail/service/http/Api"
import { OperatorAuthentication, operatorScopesOf } from "../src/api/Authentication.ts"
import * as Makers from "./Makers.ts"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const ask = (
  method: string,
  path: string,
  body?: unknown,
  key = operatorToken,
  headers: Record<string, string> = {}
) => service.ask(method, path, { key, headers, ...(body !== undefined && { body }) })

/** How a verb's request, the path that shows its effect, and the outcome of a repetition differ from the default. */
interface Verb {
  readonly body?: unknown
  /** By default the verb's own path, or the longest part of it that can be read. ID stands for the record. */
  readonly sees?: string
  /**
   * `same` (default): the repetition changes nothing. `once`: with an Idempotency-Key, the response is the
   * same. `another`: each request creates another secret, which is shown only once. Any other value is the
   * code of a refusal.
   */
  readonly again?: string
  /** True if `sees` does not show the effect. */
  readonly isHidden?: boolean
}

const { makerOf, operations: documented } = await Makers.read(service)
const company = await service.company()
const bodies = await Makers.bodiesOf(service, company)
const people = `/operator/people?company_id=${company.id}`

/** Verbs that differ from the default. */
const verbs: Readonly<Record<string, Verb>> = {
  "POST /operator/companies": { again: "once" },
  "POST /operator/companies/{id}/api-keys": { again: "another" },
  "POST /operator/api-keys/{id}/rotate": { body: { overlap_seconds: 0 }, again: "not_found" },
  "POST /operator/api-keys/{id}/connect": {
    sees: "/operator/api-keys/ID/wallet-connection",
    again: "malformed"
  },
  "POST /operator/tokens": { again: "another" },
  "POST /operator/platform-keys": { again: "another" },
  "POST /operator/people": {
    body: { company_id: company.id, name: "Ada", role: "viewer" },
    sees: people,
    again: "another"
  },
  "POST /operator/people/{id}/approve": { sees: people },
  "POST /operator/people/{id}/recover": { sees: people, again: "another" },
  "DELETE /operator/people/{id}": { sees: people },
  // Hidden if the test of pause did not run.
  "POST /operator/resume": { sees: "/operator/pause", isHidden: true },
  "PATCH /operator/reconciliation/own-funds": { isHidden: true },
  "POST /operator/suspense/{id}/assign": { again: "another_operator_required" },
  "POST /operator/adjustments": {
    body: { company_id: company.id, amount_sats: 5, reason: "a drill" },
    again: "once"
  },
  "POST /operator/webhook-endpoints": { again: "another" },
  "POST /operator/webhook-endpoints/{id}/rotate-secret": { again: "another", isHidden: true },
  "POST /operator/webhook-endpoints/{id}/replay": { isHidden: true },
  "POST /operator/webhook-endpoints/{id}/test": { isHidden: true },
  "POST /operator/webhook-deliveries/{id}/resend": { sees: "/operator/webhook-endpoints", isHidden: true }
}

/** Returns the longest part of a documented path that can be read. */
const readable = (path: string): string =>
  documented.some(({ name }) => name === `GET ${path}`)
    ? path
    : readable(path.slice(0, path.lastIndexOf("/")))

interface Operation {
  readonly group: string
  readonly endpoint: HttpApiEndpoint.Top
}
const groups: ReadonlyArray<{
  readonly identifier: string
  readonly endpoints: Readonly<Record<string, HttpApiEndpoint.Top>>
}> = Object.values(Api.groups)
const operations = new Map<string, Operation>(
  groups.flatMap(({ identifier, endpoints }) =>
    Object.values(endpoints)
      .filter(
        ({ method, middlewares }) =>
          method !== "GET" && [...middlewares].some(({ key }) => key === OperatorAuthentication.key)
      )
      .map((endpoint) => [
        `${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`,
        { group: identifier, endpoint }
      ])
  )
)

const scopes = ["read", "stop", "loosen", "mend", "companies"] as const

describe("operator actions", () => {
  it("operator verbs: every verb that differs from the default exists", () => {
    assert.isAbove(operations.size, 40)
    assert.includeMembers([...operations.keys()], Object.keys(verbs))
  })

  for (const [name, { group, endpoint }] of operations) {
    const { again = "same", isHidden = false, ...verb } = verbs[name] ?? {}
    it(`operator verbs: ${name}: the request requires its scope, ${again === "same" ? "a repeat changes nothing" : `a repeat has the outcome "${again}"`}, and the audit log names the token`, async () => {
      const { path: route, example } =
        documented.find((one) => one.name === name) ?? assert.fail("the verb is not documented")
      const body = verb.body ?? bodies[name] ?? example
      const id = route.includes("{")
        ? await (makerOf(route) ?? assert.fail("nothing creates this record"))(service, company)
        : ""
      const at = (path: string) => path.replace(/\{\w+\}|ID/, id)
      const [path, sees] = [at(route), at(verb.sees ?? readable(route))]
      const rights: ReadonlyArray<string> = operatorScopesOf(endpoint)
      const issue = async (of: string, scopes: ReadonlyArray<string>) =>
        (await ask("POST", "/operator/tokens", { name: `${of} ${name}`, scopes })).body.data
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
      assert.deepStrictEqual(
        [refused.status, refused.body.error?.code],
        [403, "scope_required"],
        refused.text
      )
      assert.deepStrictEqual(await seen(), untouched)

      const first = await ask(method, path, body, has.token, headers)
      assert.isBelow(first.status, 300, first.text)
      assert.isNotEmpty(first.body.message)
      const after = await seen()
      if (!isHidden) assert.notDeepEqual(after, untouched, `${sees} does not show the effect`)
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
      ): Promise<
        ReadonlyArray<{ readonly verb: string; readonly outcome: string; readonly actor_name: string }>
      > => (await ask("GET", `/operator/audit?actor_id=${token}`)).body.data
      const [done] = (await entries(has.id)).toReversed()
      assert.deepInclude(done, {
        verb: `${group}.${endpoint.identifier}`,
        outcome: "done",
        actor_name: `with ${name}`
      })
      const [turnedAway] = await entries(without.id)
      assert.deepInclude(turnedAway, {
        verb: `${group}.${endpoint.identifier}`,
        outcome: "scope_required",
        actor_name: `without ${name}`
      })
    })
  }
})
