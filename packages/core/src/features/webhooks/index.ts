import * as Feature from "../../ledger/Feature.ts"
import * as Forgetting from "./Forgetting.ts"
import * as Webhooks from "./Webhooks.ts"

/** Webhook endpoints and their deliveries. The worker that sends events is not here: a host runs `Satrail.layerWebhooks` in a process that can post. */
export const webhooks = Feature.make({
  name: "webhooks",
  layer: Webhooks.layer,
  workers: Forgetting.layerWorker
})
