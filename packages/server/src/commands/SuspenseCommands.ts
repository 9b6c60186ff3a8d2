import { Argument, Command, Flag } from "effect/cli"
import { callFor, company, json, list, paging } from "@satrail/http/commands/CommandParts"

const status = Flag.Literals("status", ["open", "assigned"]).pipe(
  Flag.withDescription("Only payments with this status"),
  Flag.optional
)

export const suspense = Command.make("suspense").pipe(
  Command.withDescription("List payments in suspense, and assign them to companies"),
  Command.withSubcommands([
    Command.make("list", { ...paging, status, json }, ({ after: cursor, json, limit, status }) =>
      list({ json, query: { limit, cursor, status } }, "/operator/suspense", [
        "id",
        "company_id",
        "received_sats",
        "created_at",
        "reason",
        "requested_for",
        "requested_by",
        "assigned_to",
        "deposit_id"
      ])
    ).pipe(Command.withDescription("List payments of invoices that were already paid, newest first")),
    Command.make(
      "assign",
      { id: Argument.String("id").pipe(Argument.withDescription("The payment's id")), company, json },
      ({ company, id, json }) =>
        callFor(company, { json }, "POST", `/operator/suspense/${encodeURIComponent(id)}/assign`)
    ).pipe(
      Command.withDescription(
        "Assign a payment to a company as a deposit, once another operator runs the same command"
      )
    )
  ])
)
