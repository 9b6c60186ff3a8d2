import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const ask = (path: string, key = operatorToken, body?: unknown) =>
  service.ask("POST", `/operator${path}`, { key, ...(body !== undefined && { body }) })

describe("app connections", () => {
  it("second operator: an app can be connected to a sending key before the approval, but not afterwards", async () => {
    const company = await service.company()
    await service.fund(company.key, 1000)
    const issue = async () =>
      (await ask(`/companies/${company.id}/api-keys`, operatorToken, { name: "till", scopes: ["send"] })).body
        .data.id
    const [before, after] = [await issue(), await issue()]
    const ada = (await ask("/tokens", operatorToken, { name: "Ada", scopes: ["companies"] })).body.data.token
    assert.strictEqual((await ask(`/api-keys/${before}/connect`, ada)).status, 201)
    await service.approve(after)
    assert.deepStrictEqual(seen(await ask(`/api-keys/${after}/connect`, ada)), bad(400, "malformed"))
  })
})
