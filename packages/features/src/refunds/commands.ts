import { Effect, Option } from "effect"
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
import { created, depositOf, paidInvoice } from "@satrail/http/commands/SandboxSteps"
import * as Feature from "@satrail/http/commands/Feature"

// Commands for a company's refunds. They require the company's key, because the money is the company's.

const path = "/v1/refunds"
const refund = Argument.String("id").pipe(Argument.withDescription("The refund's id"))

const create = Command.make(
  "create",
  {
    deposit: Argument.String("deposit").pipe(Argument.withDescription("The deposit's id")),
    json,
    amount: Flag.Int("amount-sats").pipe(
      Flag.withDescription("The amount to refund. Default: everything not refunded yet"),
      Flag.optional
    ),
    destination: Flag.String("destination").pipe(
      Flag.withDescription(
        "The destination: an invoice, Lightning address, LNURL, BOLT 12 offer or bitcoin address. Default: a link that the payer claims"
      ),
      Flag.optional
    ),
    description: Flag.String("description").pipe(
      Flag.withDescription("Text that the payer's wallet shows when it claims a link"),
      Flag.optional
    ),
    expirySeconds: Flag.Int("expiry-seconds").pipe(
      Flag.withDescription("How long a link can be claimed; a day by default"),
      Flag.optional
    ),
    offCheckout: Flag.Boolean("off-checkout").pipe(
      Flag.withDescription("Don't show the link on the deposit's checkout page (by default it is shown)"),
      Flag.withDefault(false)
    ),
    once: idempotencyKey("refund")
  },
  ({ amount, deposit, description, destination, expirySeconds, json, offCheckout, once }) =>
    call({ json, once }, "POST", path, {
      deposit_id: deposit,
      amount,
      currency: Option.as(amount, "sats"),
      destination,
      description,
      expiry_seconds: expirySeconds,
      ...(offCheckout && { on_checkout: false })
    })
).pipe(
  Command.withDescription("Refund a deposit. A refund link is shown only once"),
  example(
    "refunds create 01a1f768-1c70-748e-8579-81b7373e8599 --amount-sats 500",
    "Create a link for a partial refund"
  ),
  example(
    "refunds create 01a1f768-1c70-748e-8579-81b7373e8599 --destination ada@wallet.example",
    "Refund everything not refunded yet"
  )
)

const commands = Command.make("refunds").pipe(
  Command.withDescription(
    "Create, list and show a company's refunds, using the company's API key: SATRAIL_API_KEY, or the key from the last start"
  ),
  Command.withShortDescription("Create, list and show a company's refunds, using its API key"),
  Command.withSubcommands([
    create,
    Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
      list({ json, query: { limit, cursor } }, path, [
        "id",
        "created_at",
        "deposit_id",
        "amount_sats",
        "status",
        "withdrawal_id"
      ])
    ).pipe(Command.withDescription("List refunds without their links, newest first")),
    action(
      "show",
      refund,
      "GET",
      (id) => `${path}/${encodeURIComponent(id)}`,
      "Show a refund with its status and withdrawal"
    )
  ])
)

export const refunds = Feature.make({
  commands: { "Company records": [commands] },
  collections: { [path]: { noun: "refund" } },
  triggers: [
    {
      type: "refund.created",
      cause: (amount) =>
        Effect.flatMap(Effect.flatMap(paidInvoice(amount), depositOf), (deposit_id) =>
          created(path, { deposit_id })
        )
    }
  ]
})
