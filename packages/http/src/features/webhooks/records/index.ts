import * as Feature from "../../Feature.ts"
import { errors } from "./WebhookErrors.ts"
import * as WebhookView from "./WebhookView.ts"

/**
 * Views and errors of webhooks. The operations in `../index.ts` need event bodies, which are made from the
 * list that contains this feature.
 */
export const webhooks = Feature.make({
  errors,
  views: { webhookEndpoint: WebhookView.view },
  beyond: { known: ["replay_from"], wellFormed: ["url"], eventTypes: ["types"] }
})
