import { afterAll, assert, describe, it } from "@effect/vitest"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Http from "@satrail/service/http/Http"
import { consoleHeader } from "@satrail/http/edge/Exchange"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Context, Redacted, Result } from "effect"
import { operatorToken, start } from "../../../http/test/Service.ts"
import * as Environment from "../../src/deployment/Environment.ts"
import * as Server from "../../src/serving/Server.ts"
import * as Worst from "./Worst.ts"

// Sends to every route of the router the requests that are most expensive to reject, so that a new route is
// covered as soon as it is added. REFUSALS_REPEAT=20 sends each request 20 times after 20 warm-up requests, and
// prints the processor time of the slowest.

const repeat = Number(process.env["REFUSALS_REPEAT"] ?? 0)

const service = await start()
const company = await service.company("paid")
await service.lightningAddress(company.key, "satoshi")
const made = async (path: string, body: object) =>
  (await service.ask("POST", path, { key: company.key, body })).body.data
const checkout = await made("/v1/checkouts", { amount: 1000, currency: "sats" })
const environment = Result.getOrThrow(
  Environment.read({
    PORT: "0",
    SATRAIL_REQUESTS_PER_KEY: "0",
    SATRAIL_REQUESTS_PER_STRANGER: "0",
    SATRAIL_CORS_ORIGINS: "https://shop.example"
  })
)
const server = Worst.recorded(
  Server.routes(environment, Redacted.make(operatorToken), Context.add(service.context, Readiness, []))
)
const { handler, dispose } = Http.webHandler(server.routes)
afterAll(async () => {
  await dispose()
  await service.dispose()
})

const requestOf = ({ method, target, headers, body }: Omit<Worst.Bad, "what">) => {
  const url = `http://pay.example.com${target}`
  const init = {
    method,
    headers: { host: "pay.example.com", ...headers },
    ...(body !== undefined && { body })
  }
  // Undo the normalization by `Request`, because Node passes the target on as it was sent.
  return Object.defineProperty(new Request(url, init), "url", { value: url })
}
const send = (bad: Omit<Worst.Bad, "what">) => handler(requestOf(bad))
const texts = await Promise.all(
  ["/openapi.json", "/operator/openapi.json"].map(async (target) =>
    (await send({ method: "GET", target })).text()
  )
)
const document = OpenApi.read(...texts.map((text) => JSON.parse(text)))

const { operations } = document

/** Maximum size of a rejection's response, in bytes. */
const maxBytes = 8192

const session = await send({
  method: "POST",
  target: "/console/session",
  headers: { "content-type": "application/json", [consoleHeader]: "1" },
  body: JSON.stringify({ credential: company.key })
})
const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? assert.fail("the sign-in set no cookie")

/**
 * Paths with ids of existing records, for routes that read more of a request if the record exists. All other
 * paths get unknown ids.
 */
const pages = String(checkout.url).split("/").at(-1)
const wallets = ["", "/callback", "/callback?amount=21000", `/verify/${"ab".repeat(32)}`]
const known: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/.well-known/lnurlp/*": ["/.well-known/lnurlp/satoshi"],
  "/lnurlp/*": wallets.map((end) => `/lnurlp/pay.example.com/satoshi${end}`),
  "/lnurlw": [`/lnurlw?k1=${"ab".repeat(32)}`],
  "/lnurlw/callback": [`/lnurlw/callback?k1=${"ab".repeat(32)}`]
}
const filled = (path: string) =>
  known[path] ??
  [path.startsWith("/pay/:id") ? path.replace(":id", String(pages)) : "", path.replace(":handle", "satoshi")]
    .filter((one) => one !== "")
    .map((one) => one.replaceAll(Worst.segment, "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"))

const opening = (operation: OpenApi.Operation | undefined): Readonly<Record<string, string>> => {
  if (operation === undefined) return { cookie, [consoleHeader]: "1" }
  if (operation.opens.length === 0) return {}
  const isOperators = operation.opens.some((name) => /operator/i.test(name))
  return { authorization: `Bearer ${isOperators ? operatorToken : company.key}` }
}

/** Returns the query parameters that the handler reads by name. */
const queriesOf = async (asking: Omit<Worst.Bad, "what">): Promise<ReadonlySet<string>> => {
  const names = new Set<string>()
  const { get } = URLSearchParams.prototype
  URLSearchParams.prototype.get = function (name) {
    names.add(name)
    return get.call(this, name)
  }
  await (await send(asking)).body?.cancel()
  URLSearchParams.prototype.get = get
  return names
}

const badOnes = async (route: Worst.Route, part?: number) => {
  const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
  const operation = operations.find((one) => one.path === path && one.method === route.method)
  const all = await Promise.all(
    filled(route.path).map(async (target) =>
      Worst.requests(
        { route, target, operation, document, queries: await queriesOf({ method: route.method, target }) },
        part
      )
    )
  )
  return all.flat().map((bad) => ({ ...bad, headers: { ...opening(operation), ...bad.headers } }))
}

/**
 * Returns whether a request is rejected. A rejection must stay within the limits. An accepted request's
 * response is not read to its end, because it may be a stream that never ends.
 */
const refused = async (bad: Worst.Bad): Promise<boolean> => {
  const answer = await send(bad)
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true
  if (answer.status < 400 && !isJson) {
    await answer.body?.cancel()
    return false
  }
  const text = await answer.text()
  if (answer.status < 400 && !text.startsWith('{"status":"ERROR"')) return false
  const name = `${bad.what}: ${answer.status} ${text.slice(0, 200)}`
  const head = [...answer.headers].reduce((sum, [one, value]) => sum + one.length + value.length + 4, 0)
  assert.isBelow(answer.status, 500, name)
  assert.isAtMost(Buffer.byteLength(text) + head, maxBytes, name)
  if (isJson && text !== "") assert.isAtMost(JSON.parse(text).error?.issues?.length ?? 0, 21, name)
  return true
}

const microsSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Returns the processor time of a request, in microseconds. */
const micros = async (bad: Worst.Bad) => {
  const request = requestOf(bad)
  const before = process.cpuUsage()
  const answer = await handler(request)
  const cost = microsSince(before)
  await answer.body?.cancel()
  return { cost, status: answer.status }
}

/** Returns the least of several runs, because some include garbage collection or compilation. */
const least = async (bad: Worst.Bad) => {
  let cost = Infinity
  for (let n = 0; n < 4; n++) cost = Math.min(cost, (await micros(bad)).cost)
  return cost
}

/** How many times larger the worst requests are than those that they are compared with. */
const times = 5
/** Requests that take less time than this, in microseconds, are not compared. */
const longMicros = 10_000

/**
 * Compares the time of a long request with that of a smaller one, and allows twice the proportion. On a busy machine, all
 * runs of one of them can be slow, so a difference counts only if it stays when both are measured again.
 */
const compare = async (bad: Worst.Bad, smaller: Worst.Bad) => {
  let [cost, base] = [Infinity, Infinity]
  for (let round = 0; round < 5; round++) {
    cost = Math.min(cost, await least(bad))
    if (cost <= longMicros) return
    base = Math.min(base, await least(smaller))
    if (cost / base <= times * 2) return
  }
  assert.fail(`${bad.what}: ${cost} µs instead of ${base}`)
}

/** The paths of a schema's arrays and maps without a maximum size. */
const unboundedIn = (
  given: OpenApi.Schema,
  path: string,
  within: ReadonlyArray<OpenApi.Schema> = []
): ReadonlyArray<string> => {
  const schema = document.resolve(given)
  if (within.includes(schema)) return []
  const below = (one: unknown, name: string) =>
    OpenApi.isObject(one) ? unboundedIn(one, `${path}${name}`, [...within, schema]) : []
  const { items, additionalProperties, properties } = schema
  return [
    ...(items !== undefined && schema["maxItems"] === undefined
      ? [`${path}: an array without maxItems`]
      : []),
    ...(schema["type"] === "object" && additionalProperties !== false && schema["maxProperties"] === undefined
      ? [`${path}: a map without maxProperties`]
      : []),
    ...[...OpenApi.alternatives(schema), ...OpenApi.parts(schema).slice(1)].flatMap((one) => below(one, "")),
    ...Object.entries(OpenApi.isObject(properties) ? properties : {}).flatMap(([name, one]) =>
      below(one, `.${name}`)
    ),
    ...below(items, "[]"),
    ...below(additionalProperties, ".*")
  ]
}

describe("refusals", () => {
  it("refusals: every array and map in a request has a maximum size in the OpenAPI documents", () => {
    const unbounded = operations.flatMap(({ name, parameters, body }) => [
      ...parameters.flatMap((one) => unboundedIn(one.schema, `${name} ${one.name}`)),
      ...(body === undefined ? [] : unboundedIn(body.schema, name))
    ])
    assert.deepStrictEqual(unbounded, [])
  })

  for (const route of server.added) {
    it(`refusals: when ${route.method} ${route.path} rejects a request that is expensive to parse, the response has at most ${maxBytes} bytes and takes time in proportion to the request`, async () => {
      let count = 0
      for (const [at, bad] of (await badOnes(route)).entries()) {
        const before = process.cpuUsage()
        count += (await refused(bad)) ? 1 : 0
        if (microsSince(before) > longMicros)
          await compare(bad, (await badOnes(route, 1 / times))[at] ?? assert.fail(bad.what))
      }
      assert.isAbove(count, 0)
    })
  }

  it.runIf(repeat > 0)(
    "refusals: the processor time of each rejection is measured",
    { timeout: 1_800_000 },
    async () => {
      const found = new Array<{
        readonly bad: Worst.Bad
        readonly name: string
        readonly cost: number
        readonly status: number
      }>()
      for (const route of server.added)
        for (const bad of await badOnes(route)) {
          const runs = [await micros(bad), await micros(bad), await micros(bad)]
          const status = runs[0]?.status ?? 0
          const isRefused =
            status >= 400 || route.path.startsWith("/lnurl") || route.path.startsWith("/.well-known/lnurlp")
          const cost = Math.min(...runs.map(({ cost }) => cost))
          if (isRefused) found.push({ bad, name: `${route.method} ${route.path}: ${bad.what}`, cost, status })
        }
      const costs = found.map(({ cost }) => cost).toSorted((a, b) => a - b)
      const at = (part: number) => costs[Math.floor(costs.length * part)]
      console.log(
        `${costs.length} refused requests, least of 3, microseconds: median ${at(0.5)}, p99 ${at(0.99)}, highest ${costs.at(-1)}`
      )
      const highest = found.toSorted((one, other) => other.cost - one.cost).slice(0, 100)
      const medians = new Array<readonly [name: string, median: number, status: number]>()
      for (const { bad, name, status } of highest) {
        for (let n = 0; n < repeat; n++) await micros(bad)
        const all = new Array<number>()
        for (let n = 0; n < repeat; n++) all.push((await micros(bad)).cost)
        medians.push([name, all.toSorted((a, b) => a - b)[repeat >> 1] ?? 0, status])
      }
      const shown = medians.toSorted((one, other) => other[1] - one[1]).slice(0, 30)
      assert.isNotEmpty(shown)
      console.log(shown.map(([name, median, status]) => `${median} µs  ${status} ${name}`).join("\n"))
    }
  )
})
