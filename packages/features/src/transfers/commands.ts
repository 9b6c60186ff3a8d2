import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  action,
  call,
  example,
  idempotencyKey,
  json,
  list,
  paging
} from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"
import { listed } from "@satrail/http/commands/Listing"

// Commands for a company's transfers. They require the company's key, because the money is the company's.

const path = "/v1/transfers"
const transfer = Argument.String("id").pipe(Argument.withDescription("The transfer's id"))
const amount = "amount-sats"

const send = Command.make(
  "send",
  {
    to: Argument.String("to").pipe(Argument.withDescription("The id of the account that receives it")),
    amount: Argument.Int(amount).pipe(Argument.withDescription("The amount in sats")),
    json,
    description: Flag.String("description").pipe(
      Flag.withDescription("Text that both accounts see"),
      Flag.optional
    ),
    once: idempotencyKey("transfer")
  },
  ({ amount, description, json, once, to }) =>
    call({ json, once }, "POST", path, { to, amount, currency: "sats", description })
).pipe(
  Command.withDescription("Send an amount to another account of the service"),
  example("transfers send 01a1f768-1c70-748e-8579-81b7373e8599 500", "Send 500 sats to another account")
)

const returnTransfer = Command.make(
  "return",
  {
    id: transfer,
    json,
    amount: Flag.Int(amount).pipe(
      Flag.withDescription("The amount to return. Default: what is left of it"),
      Flag.optional
    ),
    once: idempotencyKey("return")
  },
  ({ amount, id, json, once }) =>
    call({ json, once }, "POST", `${path}/${encodeURIComponent(id)}/return`, {
      amount,
      currency: Option.as(amount, "sats")
    })
).pipe(
  Command.withDescription("Return a received transfer, or a part of it"),
  example("transfers return 01a1f768-1c70-748e-8579-81b7373e8599", "Return what is left of a transfer")
)

const columns = ["id", "created_at", "company_id", "to", "amount_sats", "returned_sats"] as const

export const transfers = Feature.make({
  commands: {
    "Company records": [
      Command.make("transfers").pipe(
        Command.withDescription(
          "Send money to another account of the service, return and list it. These commands use the company's API key, not the operator's token"
        ),
        Command.withShortDescription("Send and return money between accounts, using the company's API key"),
        Command.withSubcommands([
          send,
          returnTransfer,
          Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
            list({ json, query: { limit, cursor } }, path, columns)
          ).pipe(Command.withDescription("List transfers that the account sent or received, newest first")),
          action(
            "show",
            transfer,
            "GET",
            (id) => `${path}/${encodeURIComponent(id)}`,
            "Show a transfer that the account sent or received"
          )
        ])
      )
    ]
  },
  collections: { [path]: { noun: "transfer" } },
  listings: { transfers: listed("transfers", ...columns) }
})
