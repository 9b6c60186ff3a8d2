import * as Migrations from "@satrail/postgres/Migrations"
import * as PgClient from "@satrail/postgres/PgClient"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as BooksCommands from "./BooksCommands.ts"
import { check } from "./CheckCommand.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Database from "./environment/Database.ts"
import { call, forPeople, json, reasonsOf } from "./Operate.ts"
import { wallet } from "./WalletCommands.ts"

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
    const url = yield* Database.url
    const { before, now } = yield* Effect.provide(Migrations.migrate, PgClient.layer({ url, maxConnections: 1 }))
    const said = before === now ? "There was nothing to migrate" : "Migrated"
    yield* Console.log(json ? JSON.stringify({ before, now }) : forPeople(said, { before, now }))
  }).pipe(Effect.mapError((error) => new CommandFailed({ message: reasonsOf(error).join("\n  ") })))
).pipe(Command.withDescription("Bring the tables of DATABASE_URL up to date, and give the roles their rights"))

// The service is all of this package: only who starts it waits until it is loaded.
const service = Effect.promise(() => Promise.all([import("./Program.ts"), import("./Server.ts")]))

const start = Command.make("start", {}, () => Effect.flatMap(service, ([Program, Server]) => Program.main(Server.services))).pipe(
  Command.withDescription("Run the service until it is told to stop (SIGINT, SIGTERM). Everything is configured by environment variables")
)

/** The operator's command line: the same routes that the operator's token opens over HTTP; and what is done before there is a service. */
export const satrail = Command.make("satrail").pipe(
  Command.withDescription("Operate a satrail"),
  Command.withSubcommands([
    start,
    companies,
    keys,
    BooksCommands.reconcile,
    BooksCommands.ownFunds,
    BooksCommands.verify,
    check,
    migrate,
    wallet
  ])
)
