import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { example } from "../client/CommandParts.ts"

// What was booked, as files.

const time = (name: "from" | "until", description: string) =>
  Flag.String(name).pipe(Flag.withDescription(`${description}, such as 2026-01-01T00:00:00Z`), Flag.optional)

export const exports = Command.make(
  "export",
  {
    company: Argument.String("company").pipe(Argument.withDescription("The company's id; without it all companies"), Argument.optional),
    format: Flag.Literals("format", ["csv", "jsonl"]).pipe(Flag.withDescription("csv by default"), Flag.withDefault("csv" as const)),
    from: time("from", "What was booked from then on"),
    until: time("until", "What was booked before then"),
    metadataKeys: Flag.String("metadata-keys").pipe(
      Flag.withDescription("Keys of metadata that have a column each, separated by commas"),
      Flag.optional
    ),
    output: Flag.String("output").pipe(
      Flag.withDescription("The file that is written, once it is whole; by default what is read is printed"),
      Flag.optional
    )
  },
  (input) =>
    Effect.flatMap(
      Effect.promise(() => import("../client/Export.ts")),
      (commands) => commands.exported(input)
    )
).pipe(
  Command.withDescription("Export what was booked, with fees, records and running balance"),
  example("export --from 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z --output january.csv", "A month, of all companies")
)
