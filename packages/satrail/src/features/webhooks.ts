import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { DeliveryPending, EndpointNotEnabled, TooManyEndpoints } = classes
export const defaults = { webhooks: { deliveries: [undefined, undefined, page] } } as const
export const options = {
  webhooks: {
    create: ["company idempotencyKey settings"],
    change: [undefined, undefined, "description signatureHeader types url"],
    enable: [undefined, undefined, "event part"],
    replay: [undefined, undefined, "event part"],
    deliveries: [undefined, undefined, listed]
  }
} as const
