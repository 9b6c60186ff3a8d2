import * as Feature from "../../ledger/Feature.ts"
import * as Forgetting from "./Forgetting.ts"
import * as Lag from "./Lag.ts"
import * as Webhooks from "./Webhooks.ts"

/**
 * Webhook endpoints and their deliveries. The sending worker is not included: a host program runs
 * `Dispatcher.layerWorker` in a process that can make requests.
 */
export const webhooks = Feature.make({
  name: "webhooks",
  roles: ["webhooks", "deliveries"],
  lag: {
    about: "age of the oldest event not delivered to an enabled webhook endpoint, measured twice per minute",
    sinceMillis: Lag.waitingSinceMillis
  },
  layer: Webhooks.layer,
  workers: Forgetting.layerWorker
})
