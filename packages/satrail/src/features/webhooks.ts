import { overlapSeconds } from "@satrail/core/features/webhooks/Webhooks"
import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { DeliveryPending, EndpointNotEnabled, TooManyEndpoints } = classes
export const defaults = {
  webhooks: {
    create: [{ description: "", signatureHeader: null, types: [] }],
    deliveries: [undefined, undefined, page],
    enable: [undefined, undefined, { replayFrom: null }],
    rotateSecret: [undefined, undefined, { overlapSeconds: overlapSeconds.default }],
    update: [undefined, undefined, {}]
  }
} as const
export const options = {
  webhooks: {
    create: ["company description idempotencyKey signatureHeader types url"],
    update: [undefined, undefined, "description signatureHeader types url"],
    enable: [undefined, undefined, "replayFrom"],
    replay: [undefined, undefined, "replayFrom"],
    rotateSecret: [undefined, undefined, "overlapSeconds"],
    deliveries: [undefined, undefined, listed]
  }
} as const
