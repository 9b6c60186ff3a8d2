import * as Feature from "../../ledger/Feature.ts"
import * as Forgetting from "./Forgetting.ts"
import * as Webhooks from "./Webhooks.ts"

/**
 * Webhook endpoints and their deliveries. The sending worker is not included: a host program runs
 * `Dispatcher.layerWorker` in a process that can make requests.
 */
export const webhooks = Feature.make({
  name: "webhooks",
  layer: Webhooks.layer,
  workers: Forgetting.layerWorker
})
