import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"

export const { DeliveryPending, EndpointNotEnabled, TooManyEndpoints } = classes
export const defaults = { webhooks: { deliveries: [undefined, undefined, page] } } as const
