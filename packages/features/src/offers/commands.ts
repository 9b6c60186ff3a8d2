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

// Commands for a company's reusable payment codes. They require the company's key, because the money is the company's.

const path = "/v1/bitcoin/deposit/offer"
const offer = Argument.String("id").pipe(Argument.withDescription("The offer's id"))

const create = Command.make(
  "create",
  {
    json,
    description: Flag.String("description").pipe(
      Flag.withDescription("Description shown to payers"),
      Flag.optional
    ),
    amount: Flag.Int("amount-sats").pipe(
      Flag.withDescription("Minimum amount of each payment. Default: the payer decides"),
      Flag.optional
    ),
    address: Flag.String("address-id").pipe(
      Flag.withDescription(
        "The Lightning address to link the offer to. It must not have an offer yet. The response contains its DNS record"
      ),
      Flag.optional
    ),
    once: idempotencyKey("offer")
  },
  ({ address, amount, description, json, once }) =>
    call({ json, once }, "POST", path, {
      description,
      amount,
      currency: Option.as(amount, "sats"),
      lightning_address_id: address
    })
).pipe(
  Command.withDescription(
    "Create a BOLT 12 offer, if the node can issue them. An offer can be paid any number of times and does not expire"
  ),
  example("offers create --description Donations", "Create an offer for the company itself"),
  example(
    "offers create --address-id 01a1f768-1c70-748e-8579-81b7373e8599",
    "Create an offer for a Lightning address, and print its DNS record"
  )
)

const commands = Command.make("offers").pipe(
  Command.withDescription(
    "Create, list and show a company's BOLT 12 offers, using the company's API key: SATRAIL_API_KEY, or the key from the last start"
  ),
  Command.withShortDescription("Create, list and show a company's BOLT 12 offers, using its API key"),
  Command.withSubcommands([
    create,
    Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
      list({ json, query: { limit, cursor } }, path, [
        "id",
        "created_at",
        "memo",
        "lightning_address",
        "offer"
      ])
    ).pipe(Command.withDescription("List offers, newest first")),
    action(
      "show",
      offer,
      "GET",
      (id) => `${path}/${encodeURIComponent(id)}`,
      "Show an offer, and the DNS record that lets wallets find it"
    )
  ])
)

export const offers = Feature.make({
  commands: { "Company records": [commands] },
  collections: { "/v1/bitcoin/deposit/offer": { noun: "offer" } }
})
