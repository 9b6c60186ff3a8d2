import { Argument, Command, Flag } from "effect/cli"
import { call, example, json, list, paging } from "../client/CommandParts.ts"
import * as Feature from "./Feature.ts"

// What a company sends back: with its own key, since it is its money.

const path = "/v1/refunds"

const create = Command.make(
  "create",
  {
    deposit: Argument.String("deposit").pipe(Argument.withDescription("The deposit's id")),
    json,
    amount: Flag.Int("amount-sats").pipe(Flag.withDescription("A part of it; by default all that is left"), Flag.optional),
    destination: Flag.String("destination").pipe(
      Flag.withDescription(
        "Where it goes: an invoice, a Lightning address, an LNURL, a BOLT 12 offer or a bitcoin address; by default a link that the payer claims"
      ),
      Flag.optional
    ),
    description: Flag.String("description").pipe(Flag.withDescription("Of a link: what the payer's wallet shows"), Flag.optional),
    expirySeconds: Flag.Int("expiry-seconds").pipe(Flag.withDescription("How long a link can be claimed; a day by default"), Flag.optional),
    offCheckout: Flag.Boolean("off-checkout").pipe(
      Flag.withDescription("The page of the checkout that the deposit paid says nothing of it; by default it shows the link"),
      Flag.withDefault(false)
    ),
    idempotencyKey: Flag.String("idempotency-key").pipe(
      Flag.withDescription("Asked again with the same key after an answer that was lost, it is the same refund"),
      Flag.optional
    )
  },
  ({ amount, deposit, description, destination, expirySeconds, idempotencyKey, json, offCheckout }) =>
    call({ json, headers: idempotencyKey._tag === "Some" ? { "idempotency-key": idempotencyKey.value } : {} }, "POST", path, {
      deposit_id: deposit,
      ...(amount._tag === "Some" && { amount: amount.value, currency: "sats" }),
      ...(destination._tag === "Some" && { destination: destination.value }),
      ...(description._tag === "Some" && { description: description.value }),
      ...(expirySeconds._tag === "Some" && { expiry_seconds: expirySeconds.value }),
      ...(offCheckout && { on_checkout: false })
    })
).pipe(
  Command.withDescription("Refund a deposit; a link is shown once"),
  example("refunds create 01a1f768-1c70-748e-8579-81b7373e8599 --amount-sats 500", "A link to a part of it"),
  example("refunds create 01a1f768-1c70-748e-8579-81b7373e8599 --destination ada@wallet.example", "All that is left of it")
)

const commands = Command.make("refunds").pipe(
  Command.withDescription("Create, list and show a company's refunds, with its API key: SATRAIL_API_KEY, or that of the last start"),
  Command.withShortDescription("Create, list and show a company's refunds, with its API key"),
  Command.withSubcommands([
    create,
    Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
      list({ json, query: { limit, cursor } }, path, ["id", "created_at", "deposit_id", "amount_sats", "status", "withdrawal_id"])
    ).pipe(Command.withDescription("List refunds, the newest first, without their links")),
    Command.make("show", { id: Argument.String("id").pipe(Argument.withDescription("The refund's id")), json }, ({ id, json }) =>
      call({ json }, "GET", `${path}/${encodeURIComponent(id)}`)
    ).pipe(Command.withDescription("Show a refund: where it stands, and what pays it"))
  ])
)

export const refunds = Feature.make({ commands: { "A company's own": [commands] } })
