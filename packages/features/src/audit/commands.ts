import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { companyIdOf, example, idIn, json, list, paging, save } from "@satrail/http/commands/CommandParts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Feature from "@satrail/http/commands/Feature"

// The command for the audit log, which prints a page as text or writes the whole log to a file.

const only = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const isChanged = Schema.is(
  Schema.Struct({
    changes: Schema.Array(
      Schema.Struct({
        field: Schema.String,
        before: Schema.NullOr(Schema.String),
        after: Schema.NullOr(Schema.String)
      })
    )
  })
)

/** A head as it is logged (core's ledger/Audit), or the short head of an entry. */
const headForm = /^\d{1,19}:(?:\d{1,15}:[0-9a-f]{64}:(?:[0-9a-f]{64})?|[0-9a-f]{64})$/

/** Maximum number of values shown per entry. */
const mostShown = 20

/** Returns the changes of an entry, one line per value. */
const changesOf = (row: unknown): ReadonlyArray<string> => {
  const changes = isChanged(row) ? row.changes : []
  const lines = changes
    .slice(0, mostShown)
    .map(({ field, before, after }) => `${field}: ${before ?? "-"} → ${after ?? "-"}`)
  return changes.length > mostShown
    ? [...lines, `and ${changes.length - mostShown} more: --json shows all`]
    : lines
}

const actorHint =
  "--actor is the id of a key (12 characters), a token or a person, not a name: see `keys list`, `operators list`, `people list`"

/** The filters, named like the API's parameters. */
const filters = {
  actor_id: only("actor", "Only entries made by this key, token or person, by its id"),
  verb: only("verb", "Only this operation, such as send.confirm"),
  subject: only("subject", "Only entries about this record, by its id"),
  outcome: only("outcome", "Only entries with this outcome: done, or an error code such as scope_required"),
  from: only("from", "Only from this time on, such as 2026-01-01T00:00:00Z"),
  until: only("until", "Only before this time, such as 2026-02-01T00:00:00Z")
}

const entries = Command.make(
  "audit",
  {
    company: only("company", "Only entries about this company, by name or id"),
    ...filters,
    ...paging,
    json,
    format: Flag.Literals("format", ["csv", "jsonl"]).pipe(
      Flag.withDescription("Return everything as a file instead of a page"),
      Flag.optional
    ),
    output: Flag.String("output").pipe(
      Flag.withDescription("The file to write when the download completes; requires --format"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ after: cursor, company, format, json, limit, output, ...given }) {
    if (Option.isNone(format) && Option.isSome(output))
      return yield* new CommandFailed({ message: "--output requires --format csv or --format jsonl" })
    const actor_id = Option.map(given.actor_id, idIn)
    const query = { company_id: yield* companyIdOf(company), ...given, actor_id, limit, cursor }
    if (Option.isSome(format)) {
      return yield* save({ query: { ...query, format }, output }, "/operator/audit")
    }
    const members = ["created_at", "actor_name", "verb", "subject", "outcome", "count", "company_id"]
    yield* list(
      { json, query },
      "/operator/audit",
      members,
      changesOf,
      Option.isSome(actor_id) ? actorHint : undefined
    )
  })
).pipe(
  Command.withDescription(
    "List entries of the audit log, newest first: changes and refusals, and who made them. Repeated refusals become one entry after a minute"
  ),
  example("audit --actor 7Kq2mVx9TbZc", "Show what was done with this key"),
  example(
    "audit --from 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z --format csv --output january.csv",
    "Write one month to a file"
  )
)

export const audit = Feature.make({
  commands: { Ledger: [entries] },
  verifyFlags: {
    auditHead: Flag.String("audit-head").pipe(
      Flag.withDescription(
        "A head of the audit log that you saved earlier; verifies that no entry up to it was changed or removed"
      ),
      Flag.filter(
        (head) => headForm.test(head),
        (head) => `Expected a head as it was logged, such as 7:3:HASH:SIGNATURE or 7:HASH, got ${head}`
      ),
      Flag.optional
    )
  }
})
