import type { EndpointNotEnabled } from "../../core/records/Endpoint.ts"
import type { TooManyEndpoints } from "../../core/Webhooks.ts"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"

export const errors = OwnErrors.make({
  TooManyEndpoints: {
    code: "too_many_endpoints",
    status: 409,
    meaning: "The company has 16 webhook endpoints, the maximum.",
    remedy: "Delete an endpoint you no longer need, or change an existing one.",
    message: ({ maximum }: TooManyEndpoints) =>
      `A company can have at most ${maximum} webhook endpoints. Delete one first.`
  },
  EndpointNotEnabled: {
    code: "webhook_endpoint_disabled",
    status: 409,
    meaning: "The webhook endpoint is disabled, so nothing is sent to it.",
    remedy: "Enable it first. Set `replay_from` to receive the events it missed.",
    message: ({ status }: EndpointNotEnabled) => `This webhook endpoint is ${status}. Enable it first.`
  }
})
