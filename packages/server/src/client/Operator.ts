import { Console, Effect, Option, Redacted, Schema } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as DemoFile from "../deployment/DemoFile.ts"
import { dataDirectory } from "../environment/Process.ts"
import * as Setting from "../environment/Setting.ts"
import type { Body, Method, Query } from "@satrail/http/commands/Client"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Resolve from "./Resolve.ts"
import * as Names from "./Names.ts"
import { forPeople, reasonsOf, rows } from "./Output.ts"

/** Only the service knows whether it is valid. Text that no header can contain is refused, because `fetch` would print it. */
const credential = (name: string, meaning: string) =>
  Setting.optional({
    name,
    meaning,
    ...Setting.secret("one key or token on one line", (text) => /^[ -~]+$/.test(text.trim()))
  })

const settings = {
  url: Setting.optional({
    name: "SATRAIL_URL",
    meaning: "The service's address",
    // `fetch` refuses an address with a password, with an error that contains it.
    ...Setting.httpUrl,
    wants: "an address such as http://127.0.0.1:8080, without a user name or password"
  }),
  token: credential("SATRAIL_OPERATOR_TOKEN", "The operator's token"),
  apiKey: credential("SATRAIL_API_KEY", "A company's API key"),
  directory: dataDirectory
}

/** Reads the demo.json file that the last start wrote. */
const lastStart = (directory: string) =>
  Effect.try({
    try: () => Option.getOrUndefined(DemoFile.read(directory)),
    catch: (cause) => new CommandFailed({ message: reasonsOf(cause)[0] ?? String(cause) })
  })

const redacted = (text: string | undefined) => (text === undefined ? undefined : Redacted.make(text))

/**
 * Returns the service's address and the credential for the route: an operator token or a company's key. Both
 * come from the environment, or else from the file that the last start wrote. `file` is that file, if it
 * provided the credential, and `source` is the file or the variable.
 */
export const target = Effect.fnUntraced(function* (route: string) {
  const { directory, ...given } = yield* Setting.all(settings)
  const isCompanys = /^\/(?:v1|sandbox)\//.test(route)
  const known = isCompanys ? given.apiKey : given.token
  const demo = given.url === undefined || known === undefined ? yield* lastStart(directory) : undefined
  const url = given.url ?? demo?.base_url
  const token = known ?? redacted(isCompanys ? demo?.api_key : demo?.operator_token)
  if (url === undefined)
    return yield* new CommandFailed({
      message: `No service found: start one (\`npx satrail dev\`, or \`npm start\` in the repository), or set SATRAIL_URL and ${isCompanys ? "SATRAIL_API_KEY" : "SATRAIL_OPERATOR_TOKEN"} (looked in ${directory})`
    })
  if (token === undefined)
    return yield* new CommandFailed({
      message: isCompanys
        ? `No API key found: set SATRAIL_API_KEY to a company's key (looked in ${directory})`
        : `No operator token found: set SATRAIL_OPERATOR_TOKEN to the service's token (looked in ${directory}, which does not contain a token set in the service's environment)`
    })
  const file = known === undefined ? DemoFile.fileIn(directory) : undefined
  return { url, token, file, source: file ?? (isCompanys ? "SATRAIL_API_KEY" : "SATRAIL_OPERATOR_TOKEN") }
})

type Headers = Readonly<Record<string, string>>

const Envelope = Schema.Struct({
  status: Schema.Int,
  message: Schema.String,
  data: Schema.Unknown,
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.String,
      issues: Schema.optionalKey(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })))
    })
  )
})

/** Returns the cursor of the next page from a `Link` header; undefined on the last page. */
const cursorIn = (link = ""): string | undefined => {
  const [, target = ""] = /<([^>]*)>; *rel="?next"?/.exec(link) ?? []
  return URL.parse(target, "http://localhost")?.searchParams.get("cursor") ?? undefined
}

/** Returns the error for a server that doesn't respond like satrail. */
export const away = (url: string) => (cause: unknown) =>
  new CommandFailed({
    message: `${url} did not respond like a satrail server. Is it running?\n  ${reasonsOf(cause).join("\n  ")}`,
    isRetryable: true
  })

/** Returns the error for a server that can't be reached. */
const unreachable = (url: string) => (cause: unknown) =>
  new CommandFailed({
    message: `${url} can't be reached: ${reasonsOf(cause).join("; ") || "no response"}. Is the service running?`,
    isRetryable: true
  })

/**
 * Sends a request to the service. A redirect is not followed, because another server must not receive the
 * credential or answer for the service.
 */
const respond = (url: string, request: HttpClientRequest.HttpClientRequest) =>
  HttpClient.execute(request).pipe(
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer),
    Effect.mapError(unreachable(url)),
    Effect.filterOrFail(
      ({ status }) => status < 300 || status >= 400,
      ({ headers }) =>
        new CommandFailed({
          message: `${url} redirects to ${headers["location"] ?? "nowhere"}. Set SATRAIL_URL to the service's own address.`
        })
    )
  )

/** Returns the error for a refused request. A rejected credential is reported with its source. */
const refusalOf = (
  { status, message, error }: typeof Envelope.Type,
  { url, source }: { readonly url: string; readonly source: string }
): CommandFailed | undefined => {
  if (error === undefined) return undefined
  const { code, issues = [] } = error
  // An issue's message usually begins with its path.
  const told = issues.map(
    ({ path, message }) => `\n  ${message.startsWith(path) ? "" : `${path}: `}${message}`
  )
  // If there are issues, the error's own message only repeats them.
  const said = told.length === 0 ? `${message} (${code})` : `Refused (${code}):${told.join("")}`
  return new CommandFailed({
    message: status === 401 ? `${said}\n  ${url} rejected the one in ${source}.` : said,
    isRetryable: status === 429 || status >= 500
  })
}

const given = (body: Body): Body =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      Option.isOption(value) ? Option.toArray(value).map((one) => [name, one]) : [[name, value]]
    )
  )

/** Calls a route without completing ids. */
const send = Effect.fnUntraced(function* (method: Method, route: string, body?: Body, headers: Headers = {}) {
  const { url, token, source } = yield* target(route)
  const request = HttpClientRequest.make(method)(new URL(route, url)).pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.setHeaders(headers),
    body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(given(body))
  )
  const { json, headers: received } = yield* respond(url, request)
  const envelope = yield* Effect.flatMap(json, Schema.decodeUnknownEffect(Envelope)).pipe(
    Effect.mapError(away(url))
  )
  const answer = { ...envelope, next: cursorIn(received["link"]) }
  const refusal = refusalOf(answer, { url, source })
  return refusal === undefined ? answer : yield* refusal
})

const resolved = (route: string, method: Method) =>
  Resolve.route(route, method === "GET", (list) => send("GET", list))

/**
 * Calls a route. An id in the route can be shortened to a unique beginning, and a company can be given by name.
 * The server's error message is printed unchanged.
 */
export const ask = (method: Method, route: string, body?: Body, headers: Headers = {}) =>
  Effect.flatMap(resolved(route, method), (whole) => send(method, whole, body, headers))

/** Returns the id of a company given by name or shortened id, for a request body. */
export const companyId = (named: string) =>
  Effect.map(
    resolved(`/operator/companies/${encodeURIComponent(named)}`, "POST"),
    (route) => route.split("/").at(-1) ?? named
  )

/** Streams the body of a response that has no envelope. */
export const stream = Effect.fnUntraced(function* (given: string, headers: Headers = {}) {
  const route = yield* resolved(given, "GET")
  const { url, token, source } = yield* target(route)
  const request = HttpClientRequest.get(new URL(route, url)).pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.setHeaders(headers)
  )
  const response = yield* respond(url, request)
  if (response.status < 400) return response.stream
  const refused = yield* Effect.flatMap(response.json, Schema.decodeUnknownEffect(Envelope)).pipe(
    Effect.mapError(away(url))
  )
  return yield* refusalOf(refused, { url, source }) ?? away(url)(new Error(`it returned ${response.status}`))
})

/** Returns a response with names of companies in place of their ids. */
export const named = Effect.fnUntraced(function* (data: unknown) {
  const records: ReadonlyArray<unknown> = Array.isArray(data) ? data : [data]
  const names = yield* Names.namesOf(records, (route) => send("GET", route))
  return Array.isArray(data) ? records.map(Names.withNames(names)) : Names.withNames(names)(data)
})

const isPending = Schema.is(Schema.Struct({ id: Schema.String, approval: Schema.Literal("pending") }))

/**
 * Calls a route and prints the response. The idempotency key `once` makes the call safe to repeat. If the record
 * awaits a second operator's approval, also prints the `approve` command for it.
 */
export const call = Effect.fnUntraced(function* (
  {
    json,
    once = Option.none(),
    approve
  }: { readonly json: boolean; readonly once?: Option.Option<string>; readonly approve?: string },
  method: Method,
  route: string,
  body?: Body
) {
  const { message, data } = yield* ask(
    method,
    route,
    body,
    Option.isSome(once) ? { "idempotency-key": once.value } : {}
  )
  yield* Console.log(json ? JSON.stringify(data) : forPeople(message, yield* named(data)))
  if (!json && approve !== undefined && isPending(data))
    yield* Console.log(`  A second operator must run: satrail ${approve} ${data.id}`)
})

export const queryOf = (query: Query): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      Option.toArray(value).map((value): [string, string] => [name, String(value)])
    )
  ).toString()

/**
 * Calls a list route, and prints these fields of each row and its `details` below it. With `json`, prints
 * everything as JSON. Without rows, prints the hint.
 */
export const list = Effect.fnUntraced(function* (
  { json, query }: { readonly json: boolean; readonly query: Query },
  route: string,
  members: ReadonlyArray<string>,
  details: (row: unknown) => ReadonlyArray<string> = () => [],
  hint?: string
) {
  const { message, data, next } = yield* ask("GET", `${route}?${queryOf(query)}`)
  if (json) return yield* Console.log(JSON.stringify(data))
  const columns = members.map((member) => (member === "company_id" ? "company" : member))
  const [head = "", ...lines] = rows(yield* named(data), columns).split("\n")
  const detailed = lines.flatMap((line, n) => [
    line,
    ...details(Array.isArray(data) ? data[n] : undefined).map((one) => `      ${one}`)
  ])
  const help = hint !== undefined && Array.isArray(data) && data.length === 0 ? [`  ${hint}`] : []
  yield* Console.log(
    [message, head, ...detailed, ...help, ...(next === undefined ? [] : [`  more: --after ${next}`])].join(
      "\n"
    )
  )
})
