import * as Migrations from "@satrail/postgres/Migrations"
import * as PgClient from "@satrail/postgres/PgClient"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { CommandFailed } from "./CommandFailed.ts"
import * as Demo from "./Demo.ts"
import * as Environment from "./Environment.ts"
import { wallet } from "./WalletCommands.ts"

/** Where the service is, and what opens the operator's routes: from the environment, or from what the last start wrote. */
const target = Effect.try({
  try: () => {
    const { SATRAIL_URL: url, SATRAIL_OPERATOR_TOKEN: token, SATRAIL_DATA: directory = "./.satrail" } = process.env
    const demo = url === undefined || token === undefined ? Option.getOrUndefined(Demo.read(directory)) : undefined
    const found = { url: url ?? demo?.base_url, token: token ?? demo?.operator_token }
    if (found.url === undefined || found.token === undefined) {
      throw new Error(
        `No service is known: start one with \`npm start\`, or set SATRAIL_URL and SATRAIL_OPERATOR_TOKEN (looked in ${directory})`
      )
    }
    if (!/^https?:$/.test(URL.parse(found.url)?.protocol ?? "")) {
      throw new Error(`SATRAIL_URL wants an address such as http://127.0.0.1:8080, and got ${JSON.stringify(found.url)}`)
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
const forPeople = (message: string, data: unknown): string =>
  [
    message,
    ...(typeof data === "object" && data !== null
      ? Object.entries(data).map(([name, value]) => `  ${name.padEnd(12)} ${Array.isArray(value) ? value.join(", ") : String(value)}`)
      : [])
  ].join("\n")

/** What went wrong, and what that came from: the last is what a person can act on, such as ECONNREFUSED. */
const reasonsOf = (error: unknown): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  // A host name with several addresses fails with one error for each.
  const causes: ReadonlyArray<unknown> = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(error.message === "" ? [] : [error.message]), ...causes.flatMap(reasonsOf)]
}

/** Asks one of the operator's routes and prints what it answers. */
const call = Effect.fnUntraced(function* (
  json: boolean,
  method: "POST" | "DELETE",
  route: string,
  body?: Readonly<Record<string, unknown>>
) {
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
  yield* Console.log(json ? JSON.stringify(answer.data) : forPeople(answer.message, answer.data))
})

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print the data as one line of JSON"), Flag.withDefault(false))
const company = Argument.String("company").pipe(Argument.withDescription("The company's id"))
const key = Argument.String("key").pipe(Argument.withDescription("The key's id, the 12 characters in its middle"))
const plans = ["free", "paid"] as const
const name = Flag.String("name").pipe(Flag.withDescription("A name for people"))

const companies = Command.make("companies").pipe(
  Command.withDescription("Open companies and change what they may do"),
  Command.withSubcommands([
    Command.make(
      "create",
      { json, name, plan: Flag.Literals("plan", plans).pipe(Flag.withDescription("free or paid")) },
      ({ json, ...body }) => call(json, "POST", "/operator/companies", body)
    ).pipe(Command.withDescription("Open a company")),
    Command.make(
      "plan",
      { company, json, plan: Argument.Literals("plan", plans).pipe(Argument.withDescription("free or paid")) },
      ({ company, json, plan }) => call(json, "POST", `/operator/companies/${encodeURIComponent(company)}/plan`, { plan })
    ).pipe(Command.withDescription("Change a company's plan")),
    Command.make("domain", { company, domain: Argument.String("domain"), json }, ({ company, domain, json }) =>
      call(json, "POST", `/operator/companies/${encodeURIComponent(company)}/domains`, { domain })
    ).pipe(Command.withDescription("Vouch that a domain is the company's"))
  ])
)

const keys = Command.make("keys").pipe(
  Command.withDescription("Issue, rotate and revoke API keys"),
  Command.withSubcommands([
    Command.make(
      "issue",
      {
        company,
        json,
        name,
        scopes: Flag.String("scopes").pipe(
          Flag.withDescription("read, receive, send, admin: separated by commas"),
          Flag.withDefault("admin")
        ),
        expiresAt: Flag.String("expires-at").pipe(Flag.withDescription("When it ends, such as 2027-01-31T12:00:00.000Z"), Flag.optional)
      },
      ({ company, expiresAt, json, name, scopes }) =>
        call(json, "POST", `/operator/companies/${encodeURIComponent(company)}/api-keys`, {
          name,
          scopes: scopes.split(",").map((scope) => scope.trim()),
          ...(Option.isSome(expiresAt) ? { expires_at: expiresAt.value } : {})
        })
    ).pipe(Command.withDescription("Issue a key; it is shown once")),
    Command.make(
      "rotate",
      {
        json,
        key,
        overlap: Flag.Int("overlap-seconds").pipe(Flag.withDescription("How long the old key lives on"), Flag.withDefault(0))
      },
      ({ json, key, overlap }) => call(json, "POST", `/operator/api-keys/${encodeURIComponent(key)}/rotate`, { overlap_seconds: overlap })
    ).pipe(Command.withDescription("Replace a key; the new one is shown once")),
    Command.make("revoke", { json, key }, ({ json, key }) => call(json, "DELETE", `/operator/api-keys/${encodeURIComponent(key)}`)).pipe(
      Command.withDescription("Close a key at once")
    )
  ])
)

const migrate = Command.make("migrate", { json }, ({ json }) =>
  Effect.gen(function* () {
    const url = yield* Effect.fromResult(Environment.databaseUrl(process.env))
    const { before, now } = yield* Effect.provide(Migrations.migrate, PgClient.layer({ url, maxConnections: 1 }))
    const said = before === now ? "There was nothing to migrate" : "Migrated"
    yield* Console.log(json ? JSON.stringify({ before, now }) : forPeople(said, { before, now }))
  }).pipe(Effect.mapError((error) => new CommandFailed({ message: reasonsOf(error).join("\n  ") })))
).pipe(Command.withDescription("Bring the tables of DATABASE_URL up to date, and give the roles their rights"))

/** The operator's command line: the same routes that the operator's token opens over HTTP; and what is done before there is a service. */
export const satrail = Command.make("satrail").pipe(
  Command.withDescription("Operate a satrail"),
  Command.withSubcommands([companies, keys, migrate, wallet])
)
