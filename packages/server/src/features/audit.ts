import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { example, json, list, paging } from "../client/CommandParts.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import * as Feature from "./Feature.ts"

// Who did what: a page for people, or all of it as a file.

const only = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const isChanged = Schema.is(
  Schema.Struct({
    changes: Schema.Array(
      Schema.Struct({ field: Schema.String, before: Schema.NullOr(Schema.String), after: Schema.NullOr(Schema.String) })
    )
  })
)

/** The most values that are shown of one entry. */
const mostShown = 20

/** What an entry changed, a line for each value. */
const changesOf = (row: unknown): ReadonlyArray<string> => {
  const changes = isChanged(row) ? row.changes : []
  const lines = changes.slice(0, mostShown).map(({ field, before, after }) => `${field}: ${before ?? "-"} → ${after ?? "-"}`)
  return changes.length > mostShown ? [...lines, `and ${changes.length - mostShown} more: --json shows all`] : lines
}

/** By their names on the wire. */
const filters = {
  company_id: only("company", "Only this company's log, by its id"),
  actor_id: only("actor", "Only what this key or token did, by its id"),
  verb: only("verb", "Only this operation, such as send.confirm"),
  subject: only("subject", "Only what was done to this record, by its id"),
  outcome: only("outcome", "Only what ended so: done, or the code of a refusal such as scope_required"),
  from: only("from", "From then on, such as 2026-01-01T00:00:00Z"),
  until: only("until", "Before then, such as 2026-02-01T00:00:00Z")
}

const entries = Command.make(
  "audit",
  {
    ...filters,
    ...paging,
    json,
    format: Flag.Literals("format", ["csv", "jsonl"]).pipe(Flag.withDescription("All of it as a file, and no page"), Flag.optional),
    output: Flag.String("output").pipe(Flag.withDescription("The file that is written, once it is whole; with --format"), Flag.optional)
  },
  ({ after: cursor, format, json, limit, output, ...filters }) => {
    if (Option.isSome(format))
      return Effect.flatMap(
        Effect.promise(() => import("../client/Export.ts")),
        (commands) => commands.list({ query: { ...filters, limit, cursor, format }, output }, "/operator/audit")
      )
    if (Option.isSome(output)) return Effect.fail(new CommandFailed({ message: "--output needs --format: csv or jsonl" }))
    const members = ["created_at", "actor_name", "verb", "subject", "outcome", "count", "company_id"]
    return list({ json, query: { ...filters, limit, cursor } }, "/operator/audit", members, changesOf)
  }
).pipe(
  Command.withDescription("List entries of the audit log, the newest first: who did what, and what was refused"),
  example("audit --actor 7Kq2mVx9TbZc", "What was done with this key"),
  example("audit --from 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z --format csv --output january.csv", "A month, as a file")
)

export const audit = Feature.make({ commands: { "The books": [entries] } })
