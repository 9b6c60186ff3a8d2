import { Config, Console, Effect, Option, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { CommandFailed } from "./CommandFailed.ts"
import * as Demo from "./Demo.ts"
import * as Setting from "./environment/Setting.ts"

/** Where the service is, and what opens the operator's routes: from the environment, or from what the last start wrote. */
const target = Effect.try({
  try: () => {
    const { SATRAIL_URL: url, SATRAIL_OPERATOR_TOKEN: token, SATRAIL_DATA: directory = "./.satrail" } = process.env
    const demo = url === undefined || token === undefined ? Option.getOrUndefined(Demo.read(directory)) : undefined
    const found = { url: url ?? demo?.base_url, token: token ?? demo?.operator_token }
    if (found.url === undefined || found.token === undefined) {
      throw new Error(
        found.url === undefined
          ? `No service is known: start one with \`npm start\`, or set SATRAIL_URL and SATRAIL_OPERATOR_TOKEN (looked in ${directory})`
          : `No operator token is known: set SATRAIL_OPERATOR_TOKEN as the service has it (a token from the environment is not in ${directory})`
      )
    }
    if (!/^https?:$/.test(URL.parse(found.url)?.protocol ?? "")) {
      throw new Error(`SATRAIL_URL must be an address such as http://127.0.0.1:8080, got ${JSON.stringify(found.url)}`)
    }
    return { url: found.url, token: Redacted.make(found.token) }
  },
  catch: (cause) => new CommandFailed({ message: cause instanceof Error ? cause.message : String(cause) })
})

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

/** `name: value` lines, for people. */
export const forPeople = (message: string, data: unknown): string =>
  [
    message,
    ...(typeof data === "object" && data !== null
      ? Object.entries(data).map(([name, value]) => `  ${name.padEnd(12)} ${Array.isArray(value) ? value.join(", ") : String(value)}`)
      : [])
  ].join("\n")

/** What went wrong, and what that came from: the last is what a person can act on, such as ECONNREFUSED. */
export const reasonsOf = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof Config.ConfigError) return Setting.problemsOf(error)
  if (!(error instanceof Error)) return []
  // A host name with several addresses fails with one error for each.
  const causes: ReadonlyArray<unknown> = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(error.message === "" ? [] : [error.message]), ...causes.flatMap(reasonsOf)]
}

type Method = "GET" | "POST" | "PUT" | "DELETE"

/** Asks one of the operator's routes. A refusal is told as it is. */
export const ask = Effect.fnUntraced(function* (method: Method, route: string, body?: Readonly<Record<string, unknown>>) {
  const { url, token } = yield* target
  const request = HttpClientRequest.make(method)(new URL(route, url)).pipe(
    HttpClientRequest.bearerToken(token),
    body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body)
  )
  const answer = yield* HttpClient.execute(request).pipe(
    Effect.flatMap((response) => response.json),
    Effect.flatMap(Schema.decodeUnknownEffect(Envelope)),
    Effect.mapError(
      (cause) =>
        new CommandFailed({ message: `${url} does not answer as satrail does. Is it running?\n  ${reasonsOf(cause).join("\n  ")}` })
    )
  )
  if (answer.error !== undefined) {
    const { code, issues = [] } = answer.error
    const told = issues.map(({ path, message }) => `\n  ${path === "" ? "" : `${path}: `}${message}`)
    // The message of a refusal that has issues is made of them.
    return yield* new CommandFailed({ message: told.length === 0 ? `${answer.message} (${code})` : `Refused (${code}):${told.join("")}` })
  }
  return answer
})

/** Asks one of the operator's routes and prints what it answers. */
export const call = Effect.fnUntraced(function* (json: boolean, method: Method, route: string, body?: Readonly<Record<string, unknown>>) {
  const { message, data } = yield* ask(method, route, body)
  yield* Console.log(json ? JSON.stringify(data) : forPeople(message, data))
})

/** What every command takes. */
export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print the data as one line of JSON"), Flag.withDefault(false))
