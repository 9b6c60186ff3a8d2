import { Argument, Command } from "effect/cli"
import { call, company, json, list, paging } from "../client/CommandParts.ts"

// What sets the books right, once a person has found out what went wrong.

export const suspense = Command.make("suspense").pipe(
  Command.withDescription("List payments in suspense, and say whose they are"),
  Command.withSubcommands([
    Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
      list({ json, query: { limit, cursor } }, "/operator/suspense", [
        "id",
        "company_id",
        "received_sats",
        "created_at",
        "reason",
        "assigned_to",
        "deposit_id"
      ])
    ).pipe(Command.withDescription("List payments that arrived and belong to no invoice, the newest first")),
    Command.make(
      "assign",
      { id: Argument.String("id").pipe(Argument.withDescription("The payment's id")), company, json },
      ({ company, id, json }) => call({ json }, "POST", `/operator/suspense/${encodeURIComponent(id)}/assign`, { company_id: company })
    ).pipe(Command.withDescription("Make a payment a deposit of a company's, once"))
  ])
)
