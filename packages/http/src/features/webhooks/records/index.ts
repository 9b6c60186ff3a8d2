import * as Feature from "../../Feature.ts"
import { errors } from "./WebhookErrors.ts"
import * as WebhookView from "./WebhookView.ts"

/** Views and errors of webhooks. The operations in `../index.ts` use bodies of events, which are made from the list that this is in. */
export const webhooks = Feature.make({
  errors,
  views: { webhookEndpoint: WebhookView.view }
})
