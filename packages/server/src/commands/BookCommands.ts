import { Argument, Command, Flag } from "effect/cli"
import { example, json, later } from "@satrail/http/commands/CommandParts"

// Exports of the ledger as files, and imports from other services.

const time = (name: "from" | "until", description: string) =>
  Flag.String(name).pipe(Flag.withDescription(`${description}, such as 2026-01-01T00:00:00Z`), Flag.optional)

export const exports = Command.make(
  "export",
  {
    company: Argument.String("company").pipe(
      Argument.withDescription("The company's id. Default: all companies"),
      Argument.optional
    ),
    format: Flag.Literals("format", ["csv", "jsonl"]).pipe(
      Flag.withDescription("csv by default"),
      Flag.withDefault("csv" as const)
    ),
    from: time("from", "Only transactions from this time on"),
    until: time("until", "Only transactions before this time"),
    metadataKeys: Flag.String("metadata-keys").pipe(
      Flag.withDescription("Metadata keys that get their own column, separated by commas"),
      Flag.optional
    ),
    output: Flag.String("output").pipe(
      Flag.withDescription(
        "Write to this file when the export completes; prints to standard output by default"
      ),
      Flag.optional
    )
  },
  later(async () => (await import("../client/Export.ts")).exported)
).pipe(
  Command.withDescription("Export ledger transactions with fees, records and running balance"),
  example(
    "export --from 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z --output january.csv",
    "Export one month for all companies"
  )
)

export const imports = Command.make("import").pipe(
  Command.withDescription("Import accounts from another service"),
  Command.withSubcommands([
    Command.make(
      "lnbits",
      {
        file: Argument.String("file").pipe(
          Argument.withDescription("A copy of LNbits' SQLite database, made while LNbits is stopped")
        ),
        plan: Flag.Literals("plan", ["free", "paid"]).pipe(
          Flag.withDescription("The plan of the new companies; free by default"),
          Flag.withDefault("free" as const)
        ),
        dryRun: Flag.Boolean("dry-run").pipe(
          Flag.withDescription("Print the report without creating anything"),
          Flag.withDefault(false)
        ),
        json
      },
      later(async () => (await import("../client/Lnbits.ts")).imported)
    ).pipe(
      Command.withDescription(
        "Open a company for each LNbits wallet, request an adjustment that credits its balance, and print a report. If you repeat the import within 30 days, nothing is created twice. Another operator must approve the adjustments"
      ),
      Command.withShortDescription(
        "Open a company for each LNbits wallet, and request an adjustment for its balance"
      ),
      example("import lnbits database.sqlite3 --dry-run", "Show what would be imported")
    )
  ])
)
