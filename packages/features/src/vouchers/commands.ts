import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { call, company, example, json } from "@satrail/http/commands/CommandParts"
import { canceled, created, funded, sats } from "@satrail/http/commands/SandboxSteps"
import * as Feature from "@satrail/http/commands/Feature"
import { listed } from "@satrail/http/commands/Listing"

const path = "/v1/vouchers"

const commands = Command.make("vouchers").pipe(
  Command.withDescription(
    "Cancel the open vouchers and refund links of a stolen key or a removed person. To list vouchers, use `companies look COMPANY vouchers`"
  ),
  Command.withShortDescription("Cancel the open links of a stolen key or a removed person"),
  Command.withSubcommands([
    Command.make(
      "cancel",
      {
        company,
        json,
        createdBy: Flag.String("created-by").pipe(
          Flag.withDescription("The id of the API key or person that created them; required")
        )
      },
      ({ company, createdBy, json }) =>
        call({ json }, "POST", `/operator/companies/${encodeURIComponent(company)}/vouchers/cancel`, {
          created_by: createdBy
        })
    ).pipe(
      Command.withDescription("Cancel every open voucher and refund link that a key or person created"),
      example(
        "vouchers cancel 01a1f768-1c70-748e-8579-81b7373e8599 --created-by 7Kq2mVx9TbZc",
        "After revoking a stolen key"
      )
    )
  ])
)

export const vouchers = Feature.make({
  commands: { "Pauses and limits": [commands] },
  listings: {
    vouchers: listed("vouchers", "id", "created_at", "status", "amount_sats", "created_by", "withdrawal_id")
  },
  triggers: [
    {
      type: "voucher.created",
      cause: (amount) => Effect.andThen(funded(amount), created(path, sats(amount)))
    },
    {
      type: "voucher.canceled",
      cause: (amount) => Effect.andThen(funded(amount), canceled(path, sats(amount)))
    }
  ]
})
