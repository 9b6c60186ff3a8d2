import * as Network from "@satrail/bitcoin/Network"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as BookCommands from "./BookCommands.ts"
import { call, company, duration, example, json, list, listed, name, of, paging } from "../client/CommandParts.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import { keys } from "./KeyCommands.ts"
import { Variables } from "../environment/Unknown.ts"
import type { CommandOf, Group } from "../features/Feature.ts"
import { all, type features } from "../features/index.ts"
import * as FeeCommands from "./FeeCommands.ts"
import { adjustments } from "../features/adjustments.ts"
import * as MendCommands from "./MendCommands.ts"
import { look } from "./LookCommands.ts"
import * as StopCommands from "./StopCommands.ts"

// What each command takes and says of itself. What it does is loaded when it is asked to: `--help` waits for none of it.

/** A handler that is loaded when it is needed. */
const later =
  <I, A, E, R>(load: () => Promise<(input: I) => Effect.Effect<A, E, R>>) =>
  (input: I) =>
    Effect.flatMap(Effect.promise(load), (run) => run(input))

/** A misspelt variable is a default by mistake, here as in the service. `start` and `check` report it with every other problem. */
const spelt = Effect.gen(function* () {
  const { unknown } = yield* Effect.promise(() => import("../deployment/Environment.ts"))
  const problems = unknown(yield* Variables)
  if (problems.length > 0) return yield* new CommandFailed({ message: problems.join("\n") })
})

const plans = ["free", "paid"] as const

const companies = Command.make("companies").pipe(
  Command.withDescription("List, show and open companies, change their plans and domains, and hand over their Lightning addresses"),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        ...paging,
        json,
        plan: Flag.Literals("plan", plans).pipe(Flag.withDescription("Only those of this plan"), Flag.optional),
        search: Flag.String("search").pipe(
          Flag.withDescription("The beginning of an id, or a part of a name in any letter case"),
          Flag.optional
        )
      },
      ({ after: cursor, json, limit, plan, search }) =>
        list({ json, query: { limit, cursor, plan, search } }, "/operator/companies", [
          "id",
          "name",
          "plan",
          "frozen",
          "posted_sats",
          "held_sats",
          "api_keys",
          "last_seen_at"
        ])
    ).pipe(Command.withDescription("List companies, the newest first"), example("companies list --search acme", "By a part of its name")),
    look,
    Command.make("show", { company, json }, ({ company, json }) => call({ json }, "GET", of(company))).pipe(
      Command.withDescription("Show a company with its balance and when it was seen last")
    ),
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
    ).pipe(Command.withDescription("List a company's deposits and withdrawals, the newest first")),
    Command.make(
      "create",
      { json, name, plan: Flag.Literals("plan", plans).pipe(Flag.withDescription("Its plan; required")) },
      ({ json, ...body }) => call({ json }, "POST", "/operator/companies", body)
    ).pipe(Command.withDescription("Open a company"), example("companies create --name Acme --plan paid", "Then issue it a key")),
    Command.make(
      "plan",
      { company, json, plan: Argument.Literals("plan", plans).pipe(Argument.withDescription("Its new plan")) },
      ({ company, json, plan }) => call({ json }, "PATCH", of(company), { plan })
    ).pipe(Command.withDescription("Change a company's plan")),
    Command.make(
      "domain",
      { company, domain: Argument.String("domain").pipe(Argument.withDescription("Such as acme.example")), json },
      ({ company, domain, json }) => call({ json }, "POST", `${of(company)}/domains`, { domain })
    ).pipe(Command.withDescription("Vouch that a domain is the company's, without its TXT record"))
  ])
)

const operators = Command.make("operators").pipe(
  Command.withDescription("Issue, list and revoke tokens of those who operate the service"),
  Command.withSubcommands([
    Command.make(
      "issue",
      {
        json,
        name,
        scopes: Flag.String("scopes").pipe(Flag.withDescription("read, stop, loosen, mend, companies, all: separated by commas; required"))
      },
      ({ json, name, scopes }) => call({ json }, "POST", "/operator/tokens", { name, scopes: listed(scopes) })
    ).pipe(
      Command.withDescription("Issue a token; it is shown once"),
      example("operators issue --name night --scopes read,stop", "A token for the night: it looks and stops, and moves nothing")
    ),
    Command.make("list", { json }, ({ json }) => call({ json }, "GET", "/operator/tokens")).pipe(
      Command.withDescription("List the newest tokens, revoked ones too")
    ),
    Command.make("revoke", { json, token: Argument.String("token").pipe(Argument.withDescription("The token's id")) }, ({ json, token }) =>
      call({ json }, "DELETE", `/operator/tokens/${encodeURIComponent(token)}`)
    ).pipe(Command.withDescription("Revoke a token at once"))
  ])
)

const amount = (of: "node" | "on-chain", where: string) =>
  Flag.Finite(`${of}-sats`).pipe(Flag.withDescription(`Operator equity ${where}, in sats to three decimals`), Flag.optional)

const reconcile = Command.make(
  "reconcile",
  { json },
  later(async () => (await import("./Reconcile.ts")).reconcile)
).pipe(
  Command.withDescription("Show the reconciliation report: the ledger against node and chain. The exit code is 2 with discrepancies"),
  Command.withShortDescription("Show whether our books agree with the node's and the chain's")
)

const status = Command.make(
  "status",
  { json },
  later(async () => (await import("./Status.ts")).status)
).pipe(
  Command.withDescription("Show what the service runs on, whether all of it answers, who does what, and how late events and webhooks are")
)

const liquidity = Command.make("liquidity", { json }, ({ json }) => call({ json }, "GET", "/operator/liquidity")).pipe(
  Command.withDescription("Show what the node's channels can send and receive now, and how long the hot wallet lasts")
)

const backlog = Command.make(
  "backlog",
  { json },
  later(async () => (await import("./Backlog.ts")).backlog)
).pipe(Command.withDescription("Show what waits, for what, and the oldest of it by name"))

/** What is pending of all companies, and one record with what has happened to it. */
const followed = (name: "withdrawals" | "deposits", one: string, members: ReadonlyArray<string>) =>
  Command.make(name).pipe(
    Command.withDescription(`List pending ${name} of all companies, and follow one`),
    Command.withSubcommands([
      Command.make(
        "list",
        {
          ...paging,
          json,
          status: Flag.Literals("status", ["pending"]).pipe(
            Flag.withDescription("What waits, which is all there is here: what has ended is listed by `companies transactions`"),
            Flag.optional
          ),
          olderThan: duration("older-than", "Only those that have waited for at least this long")
        },
        ({ after: cursor, json, limit, olderThan: older_than, status }) =>
          list({ json, query: { limit, cursor, status, older_than } }, `/operator/${name}`, members)
      ).pipe(
        Command.withDescription(`List pending ${name}, those that have waited longest first`),
        example(`${name} list --status pending --older-than 1h`, "Those of more than an hour")
      ),
      Command.make(
        "show",
        { id: Argument.String("id").pipe(Argument.withDescription(`The ${one}'s id, of whichever company`)), json },
        ({ id, json }) => call({ json }, "GET", `/operator/${name}/${encodeURIComponent(id)}`)
      ).pipe(Command.withDescription(`Show a ${one}: what has happened to it, what it waits for, and what node or chain says`))
    ])
  )

const withdrawals = followed("withdrawals", "withdrawal", [
  "id",
  "company_id",
  "created_at",
  "amount_sats",
  "attempts",
  "next_look_at",
  "waits_for"
])
const deposits = followed("deposits", "deposit", ["id", "company_id", "created_at", "amount_sats", "chain_tx_id", "waits_for"])

const ownFunds = Command.make(
  "own-funds",
  { json, node: amount("node", "of the node"), onChain: amount("on-chain", "of the wallet on the chain") },
  later(async () => (await import("./Reconcile.ts")).ownFunds)
).pipe(
  Command.withDescription("Declare how much of the money of node and wallet is operator equity"),
  example("own-funds --node-sats 5000000 --on-chain-sats 0", "After opening a channel with money of your own")
)

const verify = Command.make(
  "verify",
  {
    json,
    auditHead: Flag.String("audit-head").pipe(
      Flag.withDescription("A head of the audit log that was logged, sent in a webhook or shown before: it must still be there"),
      Flag.optional
    )
  },
  later(async () => (await import("./Verify.ts")).verify)
).pipe(
  Command.withDescription(
    "Check the whole ledger of DATABASE_URL, or of SATRAIL_DATA, from its entries, and the chains of the audit log. It only reads, beside a running service too. The exit code is 2 with integrity violations"
  ),
  Command.withShortDescription("Check the whole ledger of DATABASE_URL, or of SATRAIL_DATA, from its entries")
)

const check = Command.make(
  "check",
  { json },
  later(async () => (await import("./Check.ts")).check)
).pipe(
  Command.withDescription(
    "Check the settings, the database, the nodes, the wallet and the domain, before or beside a running service: one line each, with its remedy. Changes nothing. The exit code is 1 with any problem"
  ),
  Command.withShortDescription("Check everything that the service needs, and print the remedy of each problem")
)

const payee = Argument.String("name").pipe(Argument.withDescription("Such as ₿alice@shop.example, or without the ₿"))

const names = Command.make("names").pipe(
  Command.withDescription("Look up payees by name in the DNS (BIP 353), and write records for one"),
  Command.withSubcommands([
    Command.make(
      "lookup",
      { json, name: payee },
      later(async () => (await import("./Names.ts")).lookup)
    ).pipe(
      Command.withDescription("Show what the resolvers of BIP353_RESOLVER say of a name, and what the service makes of it"),
      example("names lookup alice@shop.example", "Its records, whether they are signed, and what would be paid")
    ),
    Command.make(
      "record",
      { name: payee, offer: Argument.String("offer").pipe(Argument.withDescription("A BOLT 12 offer, lno1…")) },
      later(async () => (await import("./Names.ts")).record)
    ).pipe(
      Command.withDescription(
        "Print the line of a zone file by which wallets find an offer under a name. The zone has to be signed (DNSSEC)"
      ),
      example("names record alice@shop.example lno1pgx9ge…", "For the zone of shop.example")
    )
  ])
)

const migrate = Command.make(
  "migrate",
  { json },
  later(async () => (await import("./Migrate.ts")).migrate)
).pipe(
  Command.withDescription("Migrate the tables of DATABASE_URL, and grant the roles their rights"),
  example("migrate", "Before the first start, and before the processes of a new version")
)

const start = Command.make(
  "start",
  {},
  later(async () => (await import("./Start.ts")).start)
).pipe(
  Command.withDescription("Run the service until SIGINT or SIGTERM. Everything is configured by environment variables"),
  Command.withShortDescription("Run the service")
)

const file = Flag.String("file").pipe(
  Flag.withDescription("The wallet's file; by default CHAIN_WALLET, or wallet.json in SATRAIL_DATA"),
  Flag.optional
)
const network = Flag.Literals("network", Network.all).pipe(Flag.withDescription("The bitcoin network; required"))
const withoutSeed = Flag.Boolean("without-seed").pipe(
  Flag.withDescription("Keep the seed out of the file: another program signs"),
  Flag.withDefault(false)
)

const wallet = Command.make("wallet").pipe(
  Command.withDescription(
    "Create, show, restore and rescan the wallet of a real chain. It works on files and the database, not on a running service"
  ),
  Command.withShortDescription("Create, show, restore and rescan the wallet of a real chain"),
  Command.withSubcommands([
    Command.make(
      "create",
      { file, network, withoutSeed },
      later(async () => (await import("./Wallet.ts")).create)
    ).pipe(
      Command.withDescription("Create a wallet, and show its seed words once"),
      example("wallet create --network mainnet", "Prompts for a passphrase, or uses CHAIN_WALLET_PASSPHRASE")
    ),
    Command.make(
      "show-xpub",
      {
        file,
        gap: Flag.Boolean("gap").pipe(
          Flag.withDescription("Read from the database which gap limit another wallet needs to find every coin"),
          Flag.withDefault(false)
        )
      },
      later(async () => (await import("./Wallet.ts")).showXpub)
    ).pipe(Command.withDescription("Print the wallet's public keys: they reveal every payment, and can spend none")),
    Command.make(
      "restore",
      {
        birthday: Flag.String("birthday").pipe(
          Flag.withDescription("Nothing was paid to the wallet before this day, such as 2026-01-31; without it the whole chain is read"),
          Flag.optional
        ),
        file,
        network,
        withoutSeed
      },
      later(async () => (await import("./Wallet.ts")).restore)
    ).pipe(
      Command.withDescription("Restore a wallet's file from its seed words"),
      example("wallet restore --network mainnet --birthday 2026-01-31", "Prompts for the words, or uses CHAIN_SEED")
    ),
    Command.make(
      "rescan",
      {
        fromHeight: Flag.Int("from-height").pipe(Flag.withDescription("The first block to read; required")),
        gap: Flag.Int("gap").pipe(Flag.withDescription("How many keys in a row may be unused before the search ends"), Flag.optional)
      },
      later(async () => (await import("./Rescan.ts")).rescan)
    ).pipe(
      Command.withDescription(
        "Find every coin of the wallet in the chain, and let the service look for missed deposits; stop the service first"
      )
    )
  ])
)

/** The commands of features in a group of the help. */
const ofFeatures = (group: Group): ReadonlyArray<CommandOf<(typeof features)[number]>> =>
  all
    .flatMap(({ commands = {} }) => commands[group] ?? [])
    // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one: what checks the spelling asks for and fails with nothing that others here do not
    .map((one) => Command.provideEffectDiscard(one as typeof liquidity, spelt) as never)

/** The operator's command line: the same routes that the operator's token opens over HTTP; and what is done before there is a service. */
export const satrail = Command.make("satrail").pipe(
  Command.withDescription("Run and operate a satrail service. `satrail COMMAND --help` shows a command's options"),
  Command.withSubcommands([
    { group: "The service", commands: [start, check, Command.provideEffectDiscard(migrate, spelt)] },
    { group: "Operators", commands: [Command.provideEffectDiscard(operators, spelt)] },
    {
      group: "Companies",
      commands: [
        Command.provideEffectDiscard(companies, spelt),
        Command.provideEffectDiscard(keys, spelt),
        Command.provideEffectDiscard(FeeCommands.fees, spelt),
        ...ofFeatures("Companies")
      ]
    },
    { group: "A company's own", commands: ofFeatures("A company's own") },
    { group: "How it stands", commands: [Command.provideEffectDiscard(status, spelt), Command.provideEffectDiscard(liquidity, spelt)] },
    {
      group: "Stop",
      commands: [
        Command.provideEffectDiscard(StopCommands.pause, spelt),
        Command.provideEffectDiscard(StopCommands.resume, spelt),
        Command.provideEffectDiscard(StopCommands.paused, spelt),
        Command.provideEffectDiscard(StopCommands.freeze, spelt),
        Command.provideEffectDiscard(StopCommands.unfreeze, spelt),
        Command.provideEffectDiscard(StopCommands.limits, spelt),
        ...ofFeatures("Stop")
      ]
    },
    {
      group: "What waits",
      commands: [
        Command.provideEffectDiscard(backlog, spelt),
        Command.provideEffectDiscard(withdrawals, spelt),
        Command.provideEffectDiscard(deposits, spelt),
        ...ofFeatures("What waits")
      ]
    },
    {
      group: "The books",
      commands: [
        Command.provideEffectDiscard(reconcile, spelt),
        Command.provideEffectDiscard(MendCommands.suspense, spelt),
        Command.provideEffectDiscard(adjustments, spelt),
        Command.provideEffectDiscard(ownFunds, spelt),
        Command.provideEffectDiscard(BookCommands.exports, spelt),
        Command.provideEffectDiscard(verify, spelt),
        ...ofFeatures("The books")
      ]
    },
    { group: "Told to operators", commands: ofFeatures("Told to operators") },
    { group: "Payees by name", commands: [Command.provideEffectDiscard(names, spelt)] },
    { group: "The wallet", commands: [Command.provideEffectDiscard(wallet, spelt)] }
  ])
)
