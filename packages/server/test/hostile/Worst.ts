import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

// The worst requests for a route: as large as allowed, with content that is expensive to parse.

/** A route in the router's format: `GET`, `/pay/:id`. */
export interface Route {
  readonly method: string
  readonly path: string
}

/** A request and what is bad about it. */
export interface Bad {
  readonly what: string
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Returns `routes` and a list of the routes that they add to the router. The list is complete once `routes` has
 * been built.
 */
export const recorded = <E, R>(routes: Layer.Layer<never, E, R>) => {
  const added: Array<Route> = []
  const recording = Effect.map(HttpRouter.HttpRouter, (router): HttpRouter.HttpRouter => ({
    ...router,
    addAll: (all) => {
      for (const { method, path } of all) added.push({ method, path })
      return router.addAll(all)
    }
  }))
  return { added, routes: Layer.provide(routes, Layer.effect(HttpRouter.HttpRouter, recording)) }
}

/** Just below the maximum body size. */
const bodyCharacters = 60_000
/** Just below Node's limit for a target and its headers. */
const headCharacters = 15_000

/** As many items as fit. */
const many = <A>(characters: number, one: (at: number) => A, room: number): ReadonlyArray<A> =>
  Array.from({ length: Math.floor(room / characters) }, (_, at) => one(at))

const valuesOf = (body: number): Readonly<Record<string, unknown>> => ({
  "empty strings": many(3, () => "", body),
  "empty arrays": many(3, () => [], body),
  "unknown fields": Object.fromEntries(many(10, (at) => [`x${at}`, 1], body)),
  "fields whose values have the wrong type": Object.fromEntries(many(11, (at) => [`k${at}`, {}], body)),
  "a long string": "\u0001".repeat(body / 6),
  "a long string in another alphabet": "𝕏".repeat(body / 4),
  "200 strings that are not among the allowed values": Array.from({ length: 200 }, (_, at) => `none${at}`),
  "200 fields with names that need escaping": Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`\u0001\u0002${at}`, 1])
  )
})

const textsOf = (body: number): Readonly<Record<string, string>> => ({
  "deep arrays": "[".repeat(body),
  "deep objects": '{"a":'.repeat(body / 5),
  "repeated members": `{${many(12, (n) => `"m${n % 1000}":1`, body).join(",")}}`,
  "no JSON": "\u0001".repeat(body),
  "a form": many(10, (n) => `sats=${n}&x${n}=%01`, body)
    .join("&")
    .slice(0, body),
  nothing: ""
})

/** The longest possible query parameters and path segments. */
const segmentsOf = (head: number): Readonly<Record<string, string>> => ({
  "control characters": "%01".repeat(head / 3),
  "letters from another alphabet": "%F0%9D%95%8F".repeat(head / 12),
  "invalid UTF-8": "%ff".repeat(head / 3),
  letters: "a".repeat(head),
  digits: "9".repeat(head),
  "deep JSON": "%5B".repeat(head / 3),
  "a JSON object": `%7B${many(8, (n) => `%22a${n % 10}%22:1`, head - 20).join(",")}%7D`.slice(0, head),
  "an address": `${"a".repeat(head / 2)}@${"b.".repeat(head / 4)}c`,
  commas: ",".repeat(head),
  slashes: "/".repeat(head),
  "letters and parent folders": `${"a".repeat(head - 12)}/../../../x`,
  "parent folders": "a/../".repeat(head / 5)
})

/** The headers that the service or its libraries read. */
const headers = [
  "accept",
  "accept-encoding",
  "accept-language",
  "access-control-request-headers",
  "authorization",
  "content-encoding",
  "content-type",
  "cookie",
  "forwarded",
  "host",
  "idempotency-key",
  "if-modified-since",
  "if-none-match",
  "last-event-id",
  "origin",
  "range",
  "sec-fetch-site",
  "traceparent",
  "user-agent",
  "x-forwarded-for",
  "x-request-id"
]

const headerTextsOf = (head: number): Readonly<Record<string, string>> => ({
  letters: "a".repeat(head),
  "a list": many(13, (n) => `${n % 10}-b;q=1,a=b; `, head).join(""),
  spaces: `a${" ".repeat(head - 2)}a`,
  "letters beyond ASCII": "\u00ff".repeat(head)
})

/** The path of every property in an object schema, at any depth. */
const placesIn = (
  resolve: OpenApi.Document["resolve"],
  given: OpenApi.Schema,
  depth = 0
): ReadonlyArray<ReadonlyArray<string>> => {
  if (depth > 4) return []
  const schema = resolve(given)
  const inner = [...OpenApi.alternatives(schema), ...OpenApi.parts(schema).slice(1)].flatMap((one) =>
    placesIn(resolve, one, depth + 1)
  )
  const properties = Object.entries(OpenApi.isObject(schema["properties"]) ? schema["properties"] : {})
  const own = properties.flatMap(([name, one]) => [
    [name],
    ...(OpenApi.isObject(one) ? placesIn(resolve, one, depth + 1).map((rest) => [name, ...rest]) : [])
  ])
  return [...own, ...inner]
}

const at = ([name, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  name === undefined ? value : { [name]: at(rest, value) }

export const segment = /:\w+(?:\([^)]*\))?|\*/g

/**
 * A route with an existing target, its description in an OpenAPI document, and the query parameters that it
 * reads.
 */
export interface Asked {
  readonly route: Route
  readonly target: string
  readonly operation: OpenApi.Operation | undefined
  readonly document: OpenApi.Document
  readonly queries: Iterable<string>
}

/** The worst requests for a route, at `part` of the maximum size. Their order does not depend on the size. */
export const requests = (
  { route, target, operation, document, queries }: Asked,
  part = 1
): ReadonlyArray<Bad> => {
  const [bodyRoom, headRoom] = [bodyCharacters * part, headCharacters * part]
  const segments = segmentsOf(headRoom)
  const method = route.method === "*" ? "POST" : route.method
  const asking = `${target}${target.includes("?") ? "&" : "?"}`
  const json = { "content-type": "application/json" }
  const hasBody = method !== "GET" && method !== "HEAD"
  const places =
    operation?.body === undefined ? [[]] : [[], ...placesIn(document.resolve, operation.body.schema)]
  const bodies = hasBody
    ? [
        ...places.flatMap((place) =>
          Object.entries(valuesOf(bodyRoom)).map(([what, value]) => ({
            what: `${what} at ${place.join(".")}`,
            method,
            target,
            headers: json,
            body: JSON.stringify(at(place, value))
          }))
        ),
        ...Object.entries(textsOf(bodyRoom)).flatMap(([what, body]) =>
          ["application/json", "application/x-www-form-urlencoded", "text/plain"].map((type) => ({
            what: `${what} as ${type}`,
            method,
            target,
            headers: { "content-type": type },
            body
          }))
        )
      ]
    : []
  const body = hasBody ? { body: "{}" } : {}
  const plain = { method, headers: json, ...body }
  const asked = (operation?.parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name)
  const names = [...new Set([...asked, ...queries, "unknown"])]
  const parameters = route.path.match(segment)?.length ?? 0
  return [
    ...bodies,
    { ...plain, what: "a minimal request", target },
    {
      ...plain,
      what: "unknown parameters",
      target: `${asking}${many(7, (n) => `q${n % 1000}=1`, headRoom).join("&")}`
    },
    ...names.flatMap((name) => [
      ...Object.entries(segments).map(([what, text]) => ({
        ...plain,
        what: `${what} as ${name}`,
        target: `${asking}${name}=${text}`
      })),
      {
        ...plain,
        what: `${name} many times`,
        target: `${asking}${many(name.length + 3, () => `${name}=x`, headRoom).join("&")}`
      }
    ]),
    ...(parameters === 0 ? [] : Object.entries(segmentsOf(Math.floor(headRoom / parameters / 12) * 12))).map(
      ([what, text]) => ({
        ...plain,
        what: `${what} in the path`,
        target: route.path.replaceAll(segment, text)
      })
    ),
    ...headers.flatMap((name) =>
      Object.entries(headerTextsOf(headRoom)).map(([what, text]) => ({
        ...plain,
        what: `${what} in the header ${name}`,
        target,
        headers: { ...json, [name]: name === "authorization" ? `Bearer ${text}` : text }
      }))
    ),
    {
      ...plain,
      what: "many headers",
      target,
      headers: { ...json, ...Object.fromEntries(many(76, (n) => [`x-${n}`, "a".repeat(60)], headRoom)) }
    },
    ...["DELETE", "OPTIONS", "PROPFIND"].map((other) => ({ what: other, method: other, target })),
    ...(method === "GET" ? [{ what: "HEAD", method: "HEAD", target }] : [])
  ]
}
