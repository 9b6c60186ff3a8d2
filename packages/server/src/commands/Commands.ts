import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as BookCommands from "./BookCommands.ts"
import { Client } from "@satrail/http/commands/Client"
import { Collections } from "@satrail/http/commands/Collections"
import {
  action,
  call,
  company,
  duration,
  example,
  idIn,
  json,
  later,
  list,
  listed,
  name,
  of,
  paging
} from "@satrail/http/commands/CommandParts"
import { client } from "../client/Remote.ts"
import { keys } from "./KeyCommands.ts"
import type { CommandOf, Feature, Group } from "@satrail/http/commands/Feature"
import { all, type features } from "@satrail/service/features/commands"
import type { OwnFeature } from "@satrail/service/features/own"
import * as DevCommands from "./DevCommands.ts"
import * as FeeCommands from "./FeeCommands.ts"
import * as LostCommands from "./LostCommands.ts"
import * as SuspenseCommands from "./SuspenseCommands.ts"
import { inspect } from "./InspectCommands.ts"
import * as LocalCommands from "./LocalCommands.ts"
import * as Spelling from "./Spelling.ts"
import * as StopCommands from "./StopCommands.ts"

// The arguments and help texts of all commands. Implementations are loaded on demand, so `--help` stays fast.

const plans = ["free", "paid"] as const

const companies = Command.make("companies").pipe(
  Command.withDescription(
    "List, show and create companies, inspect their records, and change their plans and domains"
  ),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        ...paging,
        json,
        plan: Flag.Literals("plan", plans).pipe(
          Flag.withDescription("Only companies with this plan"),
          Flag.optional
        ),
        search: Flag.String("search").pipe(
          Flag.withDescription("The beginning of an id, or a part of a name (case-insensitive)"),
          Flag.optional
        ),
        status: Flag.Literals("status", ["frozen"]).pipe(
          Flag.withDescription("Only companies with this status"),
          Flag.optional
        )
      },
      ({ after: cursor, json, limit, plan, search, status }) =>
        list({ json, query: { limit, cursor, plan, search, status } }, "/operator/companies", [
          "id",
          "name",
          "plan",
          "frozen",
          "posted_sats",
          "held_sats",
          "api_keys",
          "last_seen_at"
        ])
    ).pipe(
      Command.withDescription("List companies, newest first"),
      example("companies list --search acme", "Search by a part of the name")
    ),
    inspect,
    action("show", company, "GET", of, "Show a company with its balance and last use"),
    Command.make("transactions", { ...paging, company, json }, ({ after: cursor, company, json, limit }) =>
      list({ json, query: { limit, cursor } }, `${of(company)}/transactions`, [
        "created_at",
        "type",
        "rail_type",
        "status",
        "amount_sats",
        "fee_sats",
        "id"
      ])
    ).pipe(Command.withDescription("List a company's deposits and withdrawals, newest first")),
    Command.make(
      "create",
      {
        json,
        name,
        plan: Flag.Literals("plan", plans).pipe(Flag.withDescription("The company's plan; required"))
      },
      ({ json, ...body }) => call({ json }, "POST", "/operator/companies", body)
    ).pipe(
      Command.withDescription("Create a company"),
      example("companies create --name Acme --plan paid", "Then issue a key for the company")
    ),
    Command.make(
      "plan",
      {
        company,
        json,
        plan: Argument.Literals("plan", plans).pipe(Argument.withDescription("The company's new plan"))
      },
      ({ company, json, plan }) => call({ json }, "PATCH", of(company), { plan })
    ).pipe(Command.withDescription("Change a company's plan")),
    Command.make(
      "domain",
      {
        company,
        domain: Argument.String("domain").pipe(Argument.withDescription("Such as acme.example")),
        json
      },
      ({ company, domain, json }) => call({ json }, "POST", `${of(company)}/domains`, { domain })
    ).pipe(
      Command.withDescription("Confirm that a domain belongs to the company without requiring a TXT record")
    )
  ])
)

const operators = Command.make("operators").pipe(
  Command.withDescription("Issue, list and revoke operator tokens"),
  Command.withSubcommands([
    Command.make(
      "issue",
      {
        json,
        name,
        scopes: Flag.String("scopes").pipe(
          Flag.withDescription("read, stop, loosen, mend, companies, all: separated by commas; required")
        )
      },
      ({ json, name, scopes }) => call({ json }, "POST", "/operator/tokens", { name, scopes: listed(scopes) })
    ).pipe(
      Command.withDescription("Issue a token. It is shown once"),
      example(
        "operators issue --name night --scopes read,stop",
        "A token for night shifts, which can read and pause but cannot move money"
      )
    ),
    Command.make("list", { json }, ({ json }) => call({ json }, "GET", "/operator/tokens")).pipe(
      Command.withDescription("List the newest tokens, including revoked ones")
    ),
    Command.make(
      "revoke",
      { json, token: Argument.String("token").pipe(Argument.withDescription("The token's id")) },
      ({ json, token }) => call({ json }, "DELETE", `/operator/tokens/${encodeURIComponent(idIn(token))}`)
    ).pipe(Command.withDescription("Revoke a token immediately"))
  ])
)

const amount = (of: "node" | "on-chain", where: string) =>
  Flag.Finite(`${of}-sats`).pipe(
    Flag.withDescription(`The operator's funds ${where}, in sats with up to three decimals`),
    Flag.optional
  )

const reconcile = Command.make(
  "reconcile",
  { json },
  later(async () => (await import("./Reconcile.ts")).reconcile)
).pipe(
  Command.withDescription(
    "Show the reconciliation report, which compares the ledger with the node and the chain. The exit code is 2 if it has discrepancies, or else 3 if it is missing or outdated"
  ),
  Command.withShortDescription("Show whether the ledger matches the node and the chain")
)

const status = Command.make(
  "status",
  { json },
  later(async () => (await import("./Status.ts")).status)
).pipe(
  Command.withDescription(
    "Show the backends, whether they respond, who holds the leader roles, and how far events and webhooks lag"
  )
)

const liquidity = Command.make("liquidity", { json }, ({ json }) =>
  call({ json }, "GET", "/operator/liquidity")
).pipe(
  Command.withDescription(
    "Show how much the channels can send and receive, and how long the hot wallet's funds will last"
  )
)

const search = Command.make(
  "search",
  {
    asCompany: Flag.Boolean("as-company").pipe(
      Flag.withDescription("Search only the company of SATRAIL_API_KEY, with its descriptions and amounts"),
      Flag.withDefault(false)
    ),
    json,
    text: Argument.String("text").pipe(
      Argument.withDescription(
        "An order, a reference, an email, an invoice, an address, a link, or the beginning of an id or hash"
      )
    )
  },
  ({ asCompany, json, text }) =>
    list(
      { json, query: { text: Option.some(text) } },
      asCompany ? "/v1/search" : "/operator/search",
      asCompany ? ["kind", "id", "by"] : ["company", "kind", "id", "by"]
    )
).pipe(
  Command.withDescription("Find payments and other records of all companies by what a person quotes"),
  example("search 9f0d1c1e52a54f7c8f430b8f6a6c1042", "The checkout with this reference, and its deposits")
)

const backlog = Command.make(
  "backlog",
  { json },
  later(async () => (await import("./Backlog.ts")).backlog)
).pipe(Command.withDescription("Show the backlog: what is pending, why, and the oldest records"))

/** Defines the commands that list pending withdrawals or deposits of all companies, or show one with its history. */
const followed = (
  name: "withdrawals" | "deposits",
  one: string,
  members: ReadonlyArray<string>,
  more: ReadonlyArray<(typeof LostCommands)[keyof typeof LostCommands]> = []
) =>
  Command.make(name).pipe(
    Command.withDescription(`List pending ${name} of all companies, or trace one`),
    Command.withSubcommands([
      Command.make(
        "list",
        {
          ...paging,
          json,
          status: Flag.Literals("status", ["pending"]).pipe(
            Flag.withDescription(
              "Filter by status; only pending is supported. For completed records, use `companies transactions`"
            ),
            Flag.optional
          ),
          olderThan: duration("older-than", "Only records at least this old")
        },
        ({ after: cursor, json, limit, olderThan: older_than, status }) =>
          list({ json, query: { limit, cursor, status, older_than } }, `/operator/${name}`, members)
      ).pipe(
        Command.withDescription(`List pending ${name}, oldest first`),
        example(`${name} list --status pending --older-than 1h`, "List only records older than an hour")
      ),
      Command.make(
        "show",
        {
          id: Argument.String("id").pipe(
            Argument.withDescription(
              `The id of any company's ${one}. For a pending ${one}, the first characters are enough`
            )
          ),
          json
        },
        ({ id, json }) =>
          later(async () => (await import("./Followed.ts")).show)({
            json,
            route: `/operator/${name}/${encodeURIComponent(id)}`
          })
      ).pipe(
        Command.withDescription(
          `Show a ${one}'s history, what it is waiting for, and what the node or chain reports`
        )
      ),
      ...more
    ])
  )

const withdrawals = followed(
  "withdrawals",
  "withdrawal",
  ["id", "company_id", "created_at", "amount_sats", "attempts", "next_look_at", "waits_for"],
  [LostCommands.settle, LostCommands.release, LostCommands.book, LostCommands.reject]
)
const deposits = followed("deposits", "deposit", [
  "id",
  "company_id",
  "created_at",
  "amount_sats",
  "chain_tx_id",
  "waits_for"
])

const ownFunds = Command.make(
  "own-funds",
  { json, node: amount("node", "in the node"), onChain: amount("on-chain", "in the on-chain wallet") },
  later(async () => (await import("./Reconcile.ts")).ownFunds)
).pipe(
  Command.withDescription("Declare how much of the money in the node and the wallet belongs to the operator"),
  example(
    "own-funds --node-sats 5000000 --on-chain-sats 0",
    "Run this after opening a channel with your own money"
  )
)

/** Returns the commands that features add to a group in the help text. */
const commandsOf =
  (given: ReadonlyArray<Pick<Feature, "commands" | "collections">>) =>
  (group: Group): ReadonlyArray<CommandOf<(typeof features)[number]>> => {
    const collections = Object.assign({}, ...given.map((feature) => feature.collections ?? {}))
    return given
      .flatMap(({ commands = {} }) => commands[group] ?? [])
      .map((one) => {
        // oxlint-disable-next-line typescript/consistent-type-assertions -- applied per command: it adds no requirement or error that the other commands lack
        const spelled = Command.provideEffectDiscard(one as typeof liquidity, Spelling.ofRemote)
        // oxlint-disable-next-line typescript/consistent-type-assertions -- the type of the feature's command
        return Command.provideSync(spelled, Collections, collections) as never
      })
  }

/** For commands that call the service: rejects misspelled variables. */
const remote = <const Name extends string, Input, Context, E, R>(
  command: Command.Command<Name, Input, Context, E, R>
) => Command.provideEffectDiscard(command, Spelling.ofRemote)

/**
 * The operator's command line: the routes available to the operator token, plus the tasks done before a
 * service runs.
 */
const make = (ofFeatures: ReturnType<typeof commandsOf>) =>
  Command.make("satrail").pipe(
    Command.withDescription(
      "Run and operate a satrail service. `satrail COMMAND --help` shows a command's options"
    ),
    Command.withSubcommands([
      {
        group: "Service",
        commands: [
          LocalCommands.start,
          LocalCommands.check,
          Command.provideEffectDiscard(LocalCommands.migrate, Spelling.ofAll)
        ]
      },
      {
        group: "Development",
        commands: [
          LocalCommands.dev,
          remote(DevCommands.listen),
          remote(DevCommands.trigger),
          remote(DevCommands.events),
          remote(DevCommands.open)
        ]
      },
      { group: "Operators", commands: [remote(operators)] },
      {
        group: "Companies",
        commands: [remote(companies), remote(keys), remote(FeeCommands.fees), ...ofFeatures("Companies")]
      },
      { group: "Company records", commands: [remote(search), ...ofFeatures("Company records")] },
      {
        group: "Status",
        commands: [remote(status), remote(liquidity)]
      },
      {
        group: "Pauses and limits",
        commands: [
          remote(StopCommands.pause),
          remote(StopCommands.resume),
          remote(StopCommands.paused),
          remote(StopCommands.freeze),
          remote(StopCommands.unfreeze),
          remote(StopCommands.limits),
          ...ofFeatures("Pauses and limits")
        ]
      },
      {
        group: "Pending work",
        commands: [remote(backlog), remote(withdrawals), remote(deposits), ...ofFeatures("Pending work")]
      },
      {
        group: "Ledger",
        commands: [
          remote(reconcile),
          remote(SuspenseCommands.suspense),
          remote(ownFunds),
          remote(BookCommands.exports),
          remote(BookCommands.imports),
          Command.provideEffectDiscard(LocalCommands.verify, Spelling.ofAll),
          ...ofFeatures("Ledger")
        ]
      },
      { group: "Notifications", commands: ofFeatures("Notifications") },
      { group: "DNS names", commands: [Command.provideEffectDiscard(LocalCommands.names, Spelling.ofAll)] },
      { group: "Wallet", commands: [Command.provideEffectDiscard(LocalCommands.wallet, Spelling.ofAll)] }
    ]),
    Command.provideSync(Client, client)
  )

export const satrail = make(commandsOf(all))

/** The same with the commands of a program's own features. */
export const withOwn = (own: ReadonlyArray<Pick<OwnFeature, "commands">>): typeof satrail =>
  make(commandsOf([...all, ...own.flatMap(({ commands }) => commands ?? [])]))
