import { Config, Console, Effect, Option, Redacted, Schema } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Demo from "../deployment/Demo.ts"
import { dataDirectory } from "../environment/Process.ts"
import * as Setting from "../environment/Setting.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import { forPeople, reasonsOf, rows } from "./Output.ts"

const settings = {
  url: Setting.optional({
    name: "SATRAIL_URL",
    meaning: "Where the service is",
    wants: "an address such as http://127.0.0.1:8080",
    read: (text) => (/^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined)
  }),
  // The service says what a token wants: here it is only sent.
  token: Config.withDefault(Config.Redacted("SATRAIL_OPERATOR_TOKEN"), undefined),
  apiKey: Config.withDefault(Config.Redacted("SATRAIL_API_KEY"), undefined),
  directory: dataDirectory
}

/** What the last start wrote. */
const lastStart = (directory: string) =>
  Effect.try({
    try: () => Option.getOrUndefined(Demo.read(directory)),
    catch: (cause) => new CommandFailed({ message: reasonsOf(cause)[0] ?? String(cause) })
  })

const redacted = (text: string | undefined) => (text === undefined ? undefined : Redacted.make(text))

/** Where the service is, and what opens the route, the operator's token or a company's key: from the environment, or from what the last start wrote. */
const target = Effect.fnUntraced(function* (route: string) {
  const { directory, ...given } = yield* Setting.all(settings)
  const isCompanys = route.startsWith("/v1/")
  const known = isCompanys ? given.apiKey : given.token
  const demo = given.url === undefined || known === undefined ? yield* lastStart(directory) : undefined
  const url = given.url ?? demo?.base_url
  const token = known ?? redacted(isCompanys ? demo?.api_key : demo?.operator_token)
  if (url === undefined)
    return yield* new CommandFailed({
      message: `No service is known: start one (\`npm start\`, or \`npx @satrail/server start\`), or set SATRAIL_URL and SATRAIL_OPERATOR_TOKEN (looked in ${directory})`
    })
  if (token === undefined)
    return yield* new CommandFailed({
      message: isCompanys
        ? `No API key is known: set SATRAIL_API_KEY to a company's (looked in ${directory})`
        : `No operator token is known: set SATRAIL_OPERATOR_TOKEN as the service has it (a token from the environment is not in ${directory})`
    })
  return { url, token }
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

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Where the next page begins, from a `Link` header; undefined on the last page. */
const cursorIn = (link = ""): string | undefined => {
  const [, target = ""] = /<([^>]*)>; *rel="?next"?/.exec(link) ?? []
  return URL.parse(target, "http://localhost")?.searchParams.get("cursor") ?? undefined
}

const away = (url: string) => (cause: unknown) =>
  new CommandFailed({ message: `${url} does not answer as satrail does. Is it running?\n  ${reasonsOf(cause).join("\n  ")}` })

/** A refusal, as it is told. */
const refusalOf = ({ message, error }: typeof Envelope.Type): CommandFailed | undefined => {
  if (error === undefined) return undefined
  const { code, issues = [] } = error
  const told = issues.map(({ path, message }) => `\n  ${path === "" ? "" : `${path}: `}${message}`)
  // The message of a refusal that has issues is made of them.
  return new CommandFailed({ message: told.length === 0 ? `${message} (${code})` : `Refused (${code}):${told.join("")}` })
}

/** Calls a route. A refusal is printed as it is. */
export const ask = Effect.fnUntraced(function* (
  method: Method,
  route: string,
  body?: Readonly<Record<string, unknown>>,
  headers: Headers = {}
) {
  const { url, token } = yield* target(route)
  const request = HttpClientRequest.make(method)(new URL(route, url)).pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.setHeaders(headers),
    body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body)
  )
  const answer = yield* HttpClient.execute(request).pipe(
    Effect.flatMap(({ json, headers }) =>
      Effect.map(Effect.flatMap(json, Schema.decodeUnknownEffect(Envelope)), (envelope) => ({
        ...envelope,
        next: cursorIn(headers["link"])
      }))
    ),
    Effect.provide(FetchHttpClient.layer),
    Effect.mapError(away(url))
  )
  const refusal = refusalOf(answer)
  return refusal === undefined ? answer : yield* refusal
})

/** The body of an answer that is no envelope, as it comes in. */
export const stream = Effect.fnUntraced(function* (route: string) {
  const { url, token } = yield* target(route)
  const request = HttpClientRequest.get(new URL(route, url)).pipe(HttpClientRequest.bearerToken(token))
  const response = yield* HttpClient.execute(request).pipe(Effect.provide(FetchHttpClient.layer), Effect.mapError(away(url)))
  if (response.status < 400) return response.stream
  const refused = yield* Effect.flatMap(response.json, Schema.decodeUnknownEffect(Envelope)).pipe(Effect.mapError(away(url)))
  return yield* refusalOf(refused) ?? away(url)(new Error(`it answered ${response.status}`))
})

/** What was answered, as this version of the program knows it. */
export const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, data: unknown) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(data),
    () => new CommandFailed({ message: "The service is of another version than this program." })
  )

/** Asks a route and prints what it answers. */
export const call = Effect.fnUntraced(function* (
  { json, headers }: { readonly json: boolean; readonly headers?: Headers },
  method: Method,
  route: string,
  body?: Readonly<Record<string, unknown>>
) {
  const { message, data } = yield* ask(method, route, body, headers)
  yield* Console.log(json ? JSON.stringify(data) : forPeople(message, data))
})

/** What was given of a query. */
export const queryOf = (query: Readonly<Record<string, Option.Option<string | number>>>): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => Option.toArray(value).map((value): [string, string] => [name, String(value)]))
  ).toString()

/** Asks a list, and prints these members of its rows, and below each row its `details`; with `json` everything. */
export const list = Effect.fnUntraced(function* (
  { json, query }: { readonly json: boolean; readonly query: Readonly<Record<string, Option.Option<string | number>>> },
  route: string,
  members: ReadonlyArray<string>,
  details: (row: unknown) => ReadonlyArray<string> = () => []
) {
  const { message, data, next } = yield* ask("GET", `${route}?${queryOf(query)}`)
  if (json) return yield* Console.log(JSON.stringify(data))
  const [head = "", ...lines] = rows(data, members).split("\n")
  const detailed = lines.flatMap((line, n) => [line, ...details(Array.isArray(data) ? data[n] : undefined).map((one) => `      ${one}`)])
  yield* Console.log([message, head, ...detailed, ...(next === undefined ? [] : [`  more: --after ${next}`])].join("\n"))
})
