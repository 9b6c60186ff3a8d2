import type { DeliveryPending } from "@satrail/core/features/webhooks/records/Delivery"
import type { EndpointNotEnabled } from "@satrail/core/features/webhooks/records/Endpoint"
import type { TooManyEndpoints } from "@satrail/core/features/webhooks/Webhooks"
import * as OwnErrors from "../../../wire/OwnErrors.ts"

export const errors = OwnErrors.make({
  TooManyEndpoints: {
    code: "too_many_endpoints",
    status: 409,
    meaning: "The company has as many webhook endpoints as it may have: 16.",
    remedy: "Delete one that is not needed any more, or change one.",
    message: ({ maximum }: TooManyEndpoints) => `There are ${maximum} webhook endpoints already, which is as many as a company has`
  },
  EndpointNotEnabled: {
    code: "webhook_endpoint_disabled",
    status: 409,
    meaning: "The webhook endpoint is disabled: nothing is sent there.",
    remedy: "Enable it first; with `replay_from` nothing is lost.",
    message: ({ status }: EndpointNotEnabled) => `The webhook endpoint is ${status}`
  },
  DeliveryPending: {
    code: "delivery_pending",
    status: 409,
    meaning: "The delivery is on its way, or waits for its next attempt.",
    remedy: "Wait for its attempt: `next_attempt_at`.",
    message: (_: DeliveryPending) => "The delivery is on its way, or waits for its next attempt"
  }
})
