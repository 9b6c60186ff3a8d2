import { afterAll, assert, describe, it } from "@effect/vitest"
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "@satrail/service/http/Api"
import { OperatorAuthentication, operatorScopesOf } from "../src/api/Authentication.ts"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const as = (method: string, path: string, key: string, body?: object) =>
  service.ask(method, path, { key, ...(body !== undefined && { body }) })
const issue = async (scopes: ReadonlyArray<string>, name = "night") =>
  (await as("POST", "/operator/tokens", operatorToken, { name, scopes })).body.data
const code = async (
  answer: Promise<{ readonly status: number; readonly body: { readonly error?: { readonly code: string } } }>
) => {
  const { status, body } = await answer
  return body.error?.code ?? status
}
const company = { name: "Example Ltd", plan: "free" }

describe("operators", () => {
  it("operator token: a token is shown once, and its scopes determine its access", async () => {
    const { id, token, ...rest } = await issue(["companies"], "on call")
    assert.deepStrictEqual([rest.name, rest.scopes, rest.revoked_at], ["on call", ["companies"], null])
    assert.match(token, /^op_/)
    assert.strictEqual(await code(as("POST", "/operator/companies", token, company)), 201)
    assert.strictEqual(await code(as("GET", "/operator/reconciliation", token)), "scope_required")
    assert.strictEqual(
      await code(as("POST", "/operator/tokens", token, { name: "Eve", scopes: ["all"] })),
      "scope_required"
    )
    const { body, text } = await as("GET", "/operator/tokens", operatorToken)
    assert.include(
      body.data.map((one: { id: string }) => one.id),
      id
    )
    assert.notInclude(text, token)
  })

  it("operator token: a revoked token stops working immediately, and other tokens keep working", async () => {
    const [one, other] = [await issue(["all"]), await issue(["all"])]
    assert.strictEqual(await code(as("DELETE", `/operator/tokens/${one.id}`, one.token)), 200)
    assert.strictEqual(await code(as("GET", "/operator/tokens", one.token)), "unauthorized")
    assert.strictEqual(await code(as("GET", "/operator/tokens", other.token)), 200)
    assert.strictEqual(await code(as("DELETE", `/operator/tokens/${one.id}`, other.token)), 200)
    assert.strictEqual(
      await code(as("DELETE", "/operator/tokens/0191f3b1-7c00-7a3b-9c1d-2f5e6a7b8c9d", other.token)),
      "not_found"
    )
  })

  it("operator token: no route that changes data accepts a read-only token", () => {
    const groups: ReadonlyArray<{ readonly endpoints: Readonly<Record<string, HttpApiEndpoint.Top>> }> =
      Object.values(Api.groups)
    const all = groups.flatMap(({ endpoints }) => Object.values(endpoints))
    const operators = all.filter(({ middlewares }) =>
      [...middlewares].some(({ key }) => key === OperatorAuthentication.key)
    )
    assert.isAbove(operators.length, 20)
    for (const endpoint of operators.filter(({ method }) => method !== "GET"))
      assert.notInclude(operatorScopesOf(endpoint), "read", endpoint.identifier)
  })
})
