import type { Random } from "@satrail/testing/Random"
import { type Asked, asked, maxSlots, recently } from "../../plot/Chance.ts"
import { type Behaviour, behaviours } from "../../world/Receivers.ts"

export type CreateEndpoint = { readonly _tag: "CreateEndpoint"; readonly which: number } & Asked
export interface Webhook {
  readonly _tag: "Webhook"
  readonly slot: number
  readonly which: number
  readonly what: "enable" | "disable" | "rotate" | "replay" | "resend" | "test" | "delete"
}
/** Makes the endpoint's server respond this way, this number of times. */
export interface Receive {
  readonly _tag: "Receive"
  readonly which: number
  readonly behaviour: Behaviour
  readonly times: number
}

export const path = "/v1/webhook-endpoints"

const create = (random: Random): CreateEndpoint => ({
  _tag: "CreateEndpoint",
  ...asked(random),
  which: random.below(4)
})

/** Operations on webhook endpoints, and their likelihood. */
export const plot = {
  weights: { CreateEndpoint: 1, Webhook: 3, Receive: 4 },
  critical: [
    "post",
    "post",
    "DeliveryMade",
    "DeliveryTried",
    "EndpointProgressed",
    "EndpointDisabled",
    "storePublicEvents"
  ],
  draws: {
    CreateEndpoint: create,
    Webhook: (random: Random): Webhook => ({
      _tag: "Webhook",
      slot: random.below(maxSlots),
      which: recently(random),
      what: random.pick([
        "enable",
        "enable",
        "disable",
        "rotate",
        "replay",
        "resend",
        "resend",
        "test",
        "delete"
      ])
    }),
    Receive: (random: Random): Receive => ({
      _tag: "Receive",
      which: recently(random),
      behaviour: random.pick(behaviours),
      times: random.pick([1, 1, 2, 5, 10, 1000])
    })
  },
  begin: (random: Random): CreateEndpoint | undefined =>
    random.chance(0.8) ? { ...create(random), company: 0 } : undefined
} as const
