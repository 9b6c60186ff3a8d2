import * as Network from "@satrail/bitcoin/Network"
import { Argument, Command, Flag } from "effect/cli"
import { example, json, later } from "@satrail/http/commands/CommandParts"
import { all } from "@satrail/service/features/commands"
import * as DevCommands from "./DevCommands.ts"

// Commands that run locally, on settings, files and the database, rather than call a running service.

/** The options of `verify` that features add. */
const verifyFlags = Object.fromEntries(all.flatMap(({ verifyFlags = {} }) => Object.entries(verifyFlags)))

export const verify = Command.make(
  "verify",
  {
    json,
    ofFeatures: verifyFlags
  },
  later(async () => (await import("./Verify.ts")).verify)
).pipe(
  Command.withDescription(
    "Recompute the whole ledger from its entries and verify the chains of the audit log, in the database at DATABASE_URL or SATRAIL_DATA. Read-only. Stop the service first if its database is embedded. The exit code is 2 if it finds integrity violations"
  ),
  Command.withShortDescription(
    "Recompute the whole ledger from its entries and verify the audit log, in the database at DATABASE_URL or SATRAIL_DATA"
  )
)

export const dev = Command.make(
  "dev",
  {
    forwardTo: DevCommands.forwardTo.pipe(
      Flag.withDescription("Also post events to this URL, like `satrail listen`"),
      Flag.optional
    )
  },
  later(async () => (await import("./Dev.ts")).dev)
).pipe(
  Command.withDescription(
    "Run the sandbox until SIGINT or SIGTERM, with its console and API key, and print the events of its company as they happen"
  ),
  Command.withShortDescription("Run the sandbox, and print events as they happen"),
  example("dev --forward-to http://localhost:3000/webhooks", "Post the events to a program on this machine")
)

export const check = Command.make(
  "check",
  { json },
  later(async () => (await import("./Check.ts")).check)
).pipe(
  Command.withDescription(
    "Check the settings, the database, the nodes, the wallet and the domain, whether or not the service is running. Prints one line per check, with a remedy for each problem. Changes nothing. The exit code is 1 if there is a problem"
  ),
  Command.withShortDescription("Check everything the service needs, and print a remedy for each problem")
)

const payee = Argument.String("name").pipe(
  Argument.withDescription("The name, such as ₿alice@shop.example; the ₿ is optional")
)

export const names = Command.make("names").pipe(
  Command.withDescription("Look up payees by their DNS names (BIP 353), and print the DNS record for a name"),
  Command.withSubcommands([
    Command.make(
      "lookup",
      { json, name: payee },
      later(async () => (await import("./NameLookup.ts")).lookup)
    ).pipe(
      Command.withDescription(
        "Look up a name with BIP353_RESOLVER, and show how the service interprets the result"
      ),
      example(
        "names lookup alice@shop.example",
        "Show the name's records, whether they are signed, and what would be paid"
      )
    ),
    Command.make(
      "record",
      {
        name: payee,
        offer: Argument.String("offer").pipe(Argument.withDescription("A BOLT 12 offer, lno1…"))
      },
      later(async () => (await import("./NameLookup.ts")).record)
    ).pipe(
      Command.withDescription(
        "Print the DNS record that lets wallets find an offer by name. The zone must be signed (DNSSEC)"
      ),
      example("names record alice@shop.example lno1pgx9ge…", "Print the record for the zone shop.example")
    )
  ])
)

export const migrate = Command.make(
  "migrate",
  { json },
  later(async () => (await import("./Migrate.ts")).migrate)
).pipe(
  Command.withDescription("Migrate the database at DATABASE_URL, and grant each role its privileges"),
  example("migrate", "Run this before the first start, and before starting a new version")
)

export const start = Command.make(
  "start",
  {},
  later(async () => (await import("./Start.ts")).start)
).pipe(
  Command.withDescription(
    "Run the service until SIGINT or SIGTERM. Everything is configured by environment variables"
  ),
  Command.withShortDescription("Run the service")
)

const file = Flag.String("file").pipe(
  Flag.withDescription("The wallet's file; by default CHAIN_WALLET, or wallet.json in SATRAIL_DATA"),
  Flag.optional
)
const network = Flag.Literals("network", Network.all).pipe(
  Flag.withDescription("The bitcoin network; required")
)
const withoutSeed = Flag.Boolean("without-seed").pipe(
  Flag.withDescription("Don't store the seed in the file. Use this if another program signs"),
  Flag.withDefault(false)
)

const atLeast = (least: number, name: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.withDescription(description),
    Flag.filter(
      (value) => value >= least,
      (value) => `Expected a whole number from ${least} on, got ${value}`
    )
  )

export const wallet = Command.make("wallet").pipe(
  Command.withDescription(
    "Create, show, restore and rescan the wallet used with a real chain. It works on files and the database, not on a running service"
  ),
  Command.withShortDescription("Create, show, restore and rescan the wallet used with a real chain"),
  Command.withSubcommands([
    Command.make(
      "create",
      { file, network, withoutSeed },
      later(async () => (await import("./Wallet.ts")).create)
    ).pipe(
      Command.withDescription("Create a wallet. Its seed words are shown once"),
      example("wallet create --network mainnet", "Prompt for a passphrase, or use CHAIN_WALLET_PASSPHRASE")
    ),
    Command.make(
      "show-xpub",
      {
        file,
        gap: Flag.Boolean("gap").pipe(
          Flag.withDescription(
            "Show the gap limit that another wallet needs to find every coin; reads the database"
          ),
          Flag.withDefault(false)
        )
      },
      later(async () => (await import("./Wallet.ts")).showXpub)
    ).pipe(
      Command.withDescription("Print the wallet's public keys, which reveal every payment but can't spend")
    ),
    Command.make(
      "restore",
      {
        birthday: Flag.String("birthday").pipe(
          Flag.withDescription(
            "Any date before the wallet's first payment, such as 2026-01-31. Default: the whole chain is read"
          ),
          Flag.optional
        ),
        file,
        network,
        withoutSeed
      },
      later(async () => (await import("./Wallet.ts")).restore)
    ).pipe(
      Command.withDescription("Restore a wallet file from its seed words"),
      example(
        "wallet restore --network mainnet --birthday 2026-01-31",
        "Prompt for the words, or use CHAIN_SEED"
      )
    ),
    Command.make(
      "rescan",
      {
        fromHeight: atLeast(0, "from-height", "The first block to read; required"),
        gap: atLeast(1, "gap", "Number of consecutive unused keys after which the search ends").pipe(
          Flag.optional
        )
      },
      later(async () => (await import("./Rescan.ts")).rescan)
    ).pipe(
      Command.withDescription(
        "Scan the chain for the wallet's coins, and check for missed deposits at the next start. Stop the service first"
      )
    )
  ])
)
