import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as Random from "@satrail/testing/Random"
import * as SchemaExceptions from "@satrail/service/http/SchemaExceptions"
import { operatorToken, start } from "./Service.ts"
import * as Valid from "./Valid.ts"

// Sends requests that match their schemas to every documented operation. Set VALID_SEED=7 or
// VALID_REQUESTS=200, for example, to try other requests.

const seed = Number(process.env["VALID_SEED"] ?? 1)
const each = Number(process.env["VALID_REQUESTS"] ?? 12)

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
await service.fund(company.key, 1_000_000)
const documents = await Promise.all(
  ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
)
const { operations, resolve } = OpenApi.read(...documents)
const documented = new Set(SchemaExceptions.rules.flatMap(({ members }) => members))

/** The field named by an error's path, without list indexes. */
const memberOf = (path: string): string =>
  path
    .replaceAll(/\.\d+(?=\.|$)/g, "")
    .split(".")
    .at(-1) ?? ""

const keyOf = ({ opens }: OpenApi.Operation): string | undefined => {
  if (opens.length === 0) return undefined
  return opens.some((scheme) => /operator/i.test(scheme)) ? operatorToken : company.key
}

describe("requests that the OpenAPI document allows", () => {
  it("OpenAPI: every field that a documented rule names is in an OpenAPI document", () => {
    const text = JSON.stringify(documents)
    for (const name of documented) assert.include(text, `"${name}"`)
  })

  for (const [at, operation] of operations.entries()) {
    if (!OpenApi.hasEnd(operation)) continue
    it(`OpenAPI: only documented rules reject a valid request: ${operation.name}`, async () => {
      const random = Random.make(Random.derived(seed, at))
      const value = Valid.make(random, resolve)
      for (let count = 0; count < each; count++) {
        const given = operation.parameters
          .filter(
            ({ in: place, required }) =>
              place === "path" || (place === "query" && (required || random.chance(0.4)))
          )
          .map(({ in: place, name, schema }) => ({ place, name, text: value(schema) }))
        const body = operation.body === undefined ? undefined : value(operation.body.schema)
        const missing = [
          ...given.filter(({ text }) => text === Valid.none).map(({ name }) => name),
          ...(body === Valid.none ? ["body"] : [])
        ]
        assert.deepStrictEqual(missing, [], "no generated value fits the schema, so it needs an example")
        const path = given
          .filter(({ place }) => place === "path")
          .reduce(
            (whole, { name, text }) => whole.replace(`{${name}}`, encodeURIComponent(String(text)) || "x"),
            operation.path
          )
        const query = new URLSearchParams(
          given
            .filter(({ place }) => place === "query")
            .map(({ name, text }): [string, string] => [name, String(text)])
        )
        const key = keyOf(operation)
        const target = query.size === 0 ? path : `${path}?${query}`
        const answer = await service.ask(operation.method, target, {
          ...(key !== undefined && { key }),
          ...(body !== undefined && { body })
        })
        const shown = `seed ${seed}, request ${count}: ${operation.method} ${target} ${JSON.stringify(body)?.slice(0, 500)}: ${answer.text.slice(0, 1000)}`
        assert.isTrue(answer.status < 500 || answer.status === 503, shown)
        if (answer.status !== 400 && answer.status !== 422) continue
        assert.isTrue(
          operation.answers.has(answer.status),
          `a status that the operation does not list: ${shown}`
        )
        if (answer.body.error?.code !== "malformed") continue
        const others = answer.body.error.issues?.filter(({ path }) => !documented.has(memberOf(path)))
        assert.deepStrictEqual(others, [], shown)
      }
    })
  }
})
