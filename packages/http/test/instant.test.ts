import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as Scalars from "../src/wire/Scalars.ts"
import { operatorToken, start } from "./Service.ts"

const lastMillis = 253_402_300_799_999

it("instant: every instant has the format of toISOString, whichever day was formatted before", () => {
  const edges = [
    0,
    999,
    86_399_999,
    86_400_000,
    951_782_399_999,
    951_782_400_000,
    1_709_251_199_999,
    lastMillis
  ]
  // This step is not a multiple of an hour or a day, so each part of an instant takes many values, and most
  // days occur once.
  for (let millis = 0; millis <= lastMillis; millis += 41_234_567_891)
    edges.push(millis, Math.floor(millis / 7))
  for (const millis of edges) assert.strictEqual(Scalars.instant(millis), new Date(millis).toISOString())
})

describe("timestamps in requests", async () => {
  const service = await start()
  afterAll(service.dispose)
  const company = await service.company("paid")
  const documents = await Promise.all(
    ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
  )
  const { operations, resolve } = OpenApi.read(...documents)
  const isTime = (schema: OpenApi.Schema): boolean =>
    OpenApi.parts(resolve(schema)).some(
      (part) =>
        part["format"] === "date-time" ||
        OpenApi.alternatives(part).some((one) => resolve(one)["format"] === "date-time")
    )
  const keyOf = ({ path }: OpenApi.Operation) => (path.startsWith("/operator/") ? operatorToken : company.key)
  const pathOf = ({ path }: OpenApi.Operation) => path.replace(/\{[^}]*\}/, company.id)

  /** Sends an instant to each parameter and each field that takes one, and returns the responses by its name. */
  const places = operations.flatMap((operation) => {
    const parameters = operation.parameters.filter(
      ({ in: place, schema }) => place === "query" && isTime(schema)
    )
    const schemas =
      operation.body === undefined ? [] : [operation.body.schema].flatMap(OpenApi.parts).map(resolve)
    const fields = schemas.flatMap(({ properties }) =>
      Object.entries(OpenApi.isObject(properties) ? properties : {})
    )
    return [
      ...parameters.map(({ name }) => ({
        name: `${operation.name}?${name}`,
        field: name,
        send: (text: string) =>
          service.ask(operation.method, `${pathOf(operation)}?${new URLSearchParams({ [name]: text })}`, {
            key: keyOf(operation)
          })
      })),
      ...fields.flatMap(([field, schema]) =>
        OpenApi.isObject(schema) && isTime(schema)
          ? [
              {
                name: `${operation.name} ${field}`,
                field,
                send: (text: string) =>
                  service.ask(operation.method, pathOf(operation), {
                    key: keyOf(operation),
                    body: { ...Object(operation.example), [field]: text }
                  })
              }
            ]
          : []
      )
    ]
  })

  it("timestamp: every parameter and field that takes one reads every form of RFC 3339", async () => {
    assert.includeMembers(
      places.map(({ name }) => name),
      [
        "GET /v1/transactions?from",
        "GET /v1/audit?until",
        "POST /v1/api-keys expires_at",
        "GET /operator/transactions/export?from"
      ]
    )
    for (const { name, send } of places)
      for (const text of [
        "2100-01-31T12:00:00Z",
        "2100-01-31T12:00:00.123456Z",
        "2100-01-31t12:00:00.123456789z",
        "2100-01-31T14:00:00.1+02:00",
        "2100-01-31 12:00:00.123456+00:00",
        "2100-12-31T23:59:60Z"
      ]) {
        const { status, text: response } = await send(text)
        assert.include([200, 201], status, `${name} ${text}: ${response}`)
      }
  })

  it("timestamp: every parameter and field that takes one names what is wrong with another text", async () => {
    const words = "must be a timestamp such as 2026-01-31T12:00:00.123Z"
    for (const { name, field, send } of places)
      for (const [text, reason] of [
        ["1769860800", ""],
        ["2100-01-31T12:00:00", ": its time and time zone are missing (Z, or an offset such as +02:00)"],
        ["2100-02-30T12:00:00Z", ": there is no 2100-02-30"],
        ["2100-01-31T12:00:00 02:00", ": it has a space where its offset begins (encode + as %2B in a query)"]
      ] as const) {
        const { status, body } = await send(text)
        assert.strictEqual(status, 400, name)
        assert.deepStrictEqual(
          body.error?.issues?.map(({ path, message }) => [path, message]),
          [[field, `${field} ${words}${reason}`]],
          name
        )
      }
  })

  it("timestamp: digits below a millisecond are dropped from a key's expiry, and a leap second is the next second", async () => {
    for (const [text, shown] of [
      ["2100-01-31T14:00:00.123999+02:00", "2100-01-31T12:00:00.123Z"],
      ["2100-12-31T23:59:60Z", "2101-01-01T00:00:00.000Z"]
    ] as const) {
      const body = { name: "a", scopes: ["read"], expires_at: text }
      assert.strictEqual(
        (await service.ask("POST", "/v1/api-keys", { key: company.key, body })).body.data.expires_at,
        shown
      )
    }
  })
})
