import { Argument, Command, Flag } from "effect/cli"
import { call, company, example, json, list, paging } from "../client/CommandParts.ts"

const adjustment = Argument.String("id").pipe(Argument.withDescription("The adjustment's id"))
const at = (id: string) => `/operator/adjustments/${encodeURIComponent(id)}`

export const adjustments = Command.make("adjustments").pipe(
  Command.withDescription("Book by hand what a person has found out: one operator asks, another one approves"),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        ...paging,
        json,
        status: Flag.Literals("status", ["pending", "booked", "rejected"]).pipe(
          Flag.withDescription("Only those that stand so"),
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
    ).pipe(Command.withDescription("List adjustments of all companies, the newest first")),
    Command.make("show", { id: adjustment, json }, ({ id, json }) => call({ json }, "GET", at(id))).pipe(
      Command.withDescription("Show an adjustment")
    ),
    Command.make(
      "request",
      {
        company,
        json,
        sats: Flag.Finite("sats").pipe(
          Flag.withDescription("Credited to the company, or taken from it where below zero (--sats=-50), to three decimals; required")
        ),
        reason: Flag.String("reason").pipe(Flag.withDescription("For the company; required")),
        note: Flag.String("note").pipe(Flag.withDescription("For operators"), Flag.optional)
      },
      ({ company, json, note, reason, sats }) =>
        call({ json }, "POST", "/operator/adjustments", {
          company_id: company,
          amount_sats: sats,
          reason,
          ...(note._tag === "Some" && { note: note.value })
        })
    ).pipe(
      Command.withDescription("Ask for an adjustment. No money moves until another operator approves it"),
      example(
        'adjustments request 01a1f768-1c70-748e-8579-81b7373e8599 --sats 500 --reason "credited late"',
        "Then another operator approves it"
      )
    ),
    Command.make("approve", { id: adjustment, json }, ({ id, json }) => call({ json }, "POST", `${at(id)}/approve`)).pipe(
      Command.withDescription("Book an adjustment that another operator asked for")
    ),
    Command.make("reject", { id: adjustment, json }, ({ id, json }) => call({ json }, "POST", `${at(id)}/reject`)).pipe(
      Command.withDescription("Reject an adjustment, or take back one's own")
    )
  ])
)
