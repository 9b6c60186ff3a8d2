import * as OpenApi from "@satrail/testing/OpenApi"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { operatorToken, start } from "./Service.ts"

// The worst requests for each route of the OpenAPI documents. They come from the schemas alone, so a new route is covered when it is added.

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
const documents = await Promise.all(["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body))
const { operations, resolve } = OpenApi.read(...documents)

/** What a refused request may cost on the wire, in bytes. */
const maxBytes = 8192
/** Just below the limit of a body. */
const bodyCharacters = 60_000

/** As many of these as fit into a body. */
const many = <A>(characters: number, one: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: Math.floor(bodyCharacters / characters) }, (_, at) => one(at))

const hostile: Readonly<Record<string, unknown>> = {
  "empty strings": many(3, () => ""),
  "empty arrays": many(3, () => []),
  "members that do not exist": Object.fromEntries(many(10, (at) => [`x${at}`, 1])),
  "members with values of another type": Object.fromEntries(many(11, (at) => [`k${at}`, {}])),
  "a long string": "\u0001".repeat(bodyCharacters / 6),
  "a long string of another alphabet": "𝕏".repeat(bodyCharacters / 4),
  "200 strings that are none of the values": Array.from({ length: 200 }, (_, at) => `none${at}`),
  "200 members with names that escape": Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`\u0001\u0002${at}`, 1]))
}

/** Every member of an object schema, at any depth, by the path of names that leads to it. */
const placesIn = (given: OpenApi.Schema, depth = 0): ReadonlyArray<ReadonlyArray<string>> => {
  if (depth > 4) return []
  const schema = resolve(given)
  const inner = [...OpenApi.alternatives(schema), ...OpenApi.parts(schema).slice(1)].flatMap((one) => placesIn(one, depth + 1))
  const properties = Object.entries(OpenApi.isObject(schema["properties"]) ? schema["properties"] : {})
  const own = properties.flatMap(([name, one]) => [
    [name],
    ...(OpenApi.isObject(one) ? placesIn(one, depth + 1).map((rest) => [name, ...rest]) : [])
  ])
  return [...own, ...inner]
}

const at = ([name, ...rest]: ReadonlyArray<string>, value: unknown): unknown => (name === undefined ? value : { [name]: at(rest, value) })

const key = (opens: ReadonlyArray<string>): string | undefined =>
  opens.some((name) => /operator/i.test(name)) ? operatorToken : opens.length > 0 ? company.key : undefined

const filled = (path: string): string => path.replaceAll(/\{[^}]*\}/g, "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d")

/** Whether the request is refused, which must be within the bounds: 1 if so. */
const refusal = async (name: string, method: string, path: string, opens: ReadonlyArray<string>, body?: string) => {
  const own = key(opens)
  const answer = await service.ask(method, path, { ...(own !== undefined && { key: own }), ...(body !== undefined && { body }) })
  if (answer.status < 400) return 0
  assert.isBelow(answer.status, 500, `${name}: ${answer.text.slice(0, 200)}`)
  assert.isAtMost(Buffer.byteLength(answer.text), maxBytes, `${name}: ${answer.text.slice(0, 200)}`)
  assert.isAtMost(answer.body?.error?.issues?.length ?? 0, 21, name)
  return 1
}

describe("refusals", () => {
  for (const { name, method, path, opens, parameters, body } of operations) {
    it(`refusals: ${name} refuses the worst requests with at most ${maxBytes} bytes`, async () => {
      let refused = 0
      if (body !== undefined) {
        const places = [[], ...placesIn(body.schema)]
        for (const place of places)
          for (const [what, value] of Object.entries(hostile))
            refused += await refusal(`${what} at ${place.join(".")}`, method, filled(path), opens, JSON.stringify(at(place, value)))
        refused += await refusal("deep", method, filled(path), opens, "[".repeat(bodyCharacters))
        refused += await refusal(
          "repeated members",
          method,
          filled(path),
          opens,
          `{${many(5, (n) => `"m${n % 5000}":1`)
            .slice(0, 6000)
            .join(",")}}`
        )
      }
      const query = parameters.filter((one) => one.in === "query").map((one) => one.name)
      refused += await refusal("unknown parameters", method, `${filled(path)}?${many(40, (n) => `q${n}=1`).join("&")}`, opens)
      for (const one of [...query, "unknown"]) {
        refused += await refusal(`${one} is long`, method, `${filled(path)}?${one}=${"%01".repeat(4000)}`, opens)
        refused += await refusal(`${one} many times`, method, `${filled(path)}?${many(40, () => `${one}=x`).join("&")}`, opens)
      }
      if (path.includes("{")) refused += await refusal("a long path", method, path.replaceAll(/\{[^}]*\}/g, "%01".repeat(4000)), opens)
      assert.isAbove(refused, 0)
    })
  }
})
