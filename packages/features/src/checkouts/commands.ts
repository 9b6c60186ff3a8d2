import { Effect } from "effect"
import { canceled, made, pay, sats } from "@satrail/http/commands/SandboxSteps"
import * as Feature from "@satrail/http/commands/Feature"

const path = "/v1/checkouts"
const bodyOf = (amount: number) => ({ ...sats(amount), description: "satrail trigger" })

export const checkouts = Feature.make({
  triggers: [
    {
      type: "checkout.paid",
      cause: (amount) => Effect.map(Effect.tap(made(path, bodyOf(amount)), pay), ({ id }) => id)
    },
    { type: "checkout.canceled", cause: (amount) => canceled(path, bodyOf(amount)) }
  ]
})
