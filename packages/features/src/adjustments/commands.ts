import { Argument, Command, Flag } from "effect/cli"
import { action, callFor, company, example, json, list, paging } from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"

const adjustment = Argument.String("id").pipe(Argument.withDescription("The adjustment's id"))
const at = (id: string) => `/operator/adjustments/${encodeURIComponent(id)}`

const commands = Command.make("adjustments").pipe(
  Command.withDescription(
    "Correct a company's balance manually: one operator requests the adjustment, another approves it"
  ),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        ...paging,
        json,
        status: Flag.Literals("status", ["pending", "booked", "rejected"]).pipe(
          Flag.withDescription("Only adjustments with this status"),
          Flag.optional
        )
      },
      ({ after: cursor, json, limit, status }) =>
        list({ json, query: { limit, cursor, status } }, "/operator/adjustments", [
          "id",
          "company_id",
          "created_at",
          "amount_sats",
          "status",
          "requested_by",
          "decided_by",
          "reason"
        ])
    ).pipe(Command.withDescription("List adjustments of all companies, newest first")),
    action("show", adjustment, "GET", at, "Show an adjustment"),
    Command.make(
      "request",
      {
        company,
        json,
        sats: Flag.Finite("sats").pipe(
          Flag.withDescription(
            "Amount to credit, or to debit if negative (--sats=-50), with up to three decimals; required"
          )
        ),
        reason: Flag.String("reason").pipe(Flag.withDescription("The reason shown to the company; required")),
        note: Flag.String("note").pipe(Flag.withDescription("For operators"), Flag.optional)
      },
      ({ company, json, note, reason, sats }) =>
        callFor(company, { json }, "POST", "/operator/adjustments", {
          amount_sats: sats,
          reason,
          note
        })
    ).pipe(
      Command.withDescription("Request an adjustment. No money moves until another operator approves it"),
      example(
        'adjustments request 01a1f768-1c70-748e-8579-81b7373e8599 --sats 500 --reason "credited late"',
        "Then another operator must approve it"
      )
    ),
    action(
      "approve",
      adjustment,
      "POST",
      (id) => `${at(id)}/approve`,
      "Approve and book an adjustment that another operator requested"
    ),
    action(
      "reject",
      adjustment,
      "POST",
      (id) => `${at(id)}/reject`,
      "Reject an adjustment, or withdraw your own"
    )
  ])
)

export const adjustments = Feature.make({
  commands: { Ledger: [commands] },
  collections: { "/operator/adjustments": { noun: "adjustment" } }
})
