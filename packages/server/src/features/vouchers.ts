import { Effect } from "effect"
import { canceled, created, funded, sats } from "../client/SandboxSteps.ts"
import * as Feature from "./Feature.ts"
import { listed } from "./Listing.ts"

const path = "/v1/vouchers"

export const vouchers = Feature.make({
  listings: { vouchers: listed("vouchers", "id", "created_at", "status", "amount_sats", "withdrawal_id") },
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
