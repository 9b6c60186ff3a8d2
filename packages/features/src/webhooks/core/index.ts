import * as Feature from "@satrail/core/ledger/Feature"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Forgetting from "./Forgetting.ts"
import * as Lag from "./Lag.ts"
import * as Delivery from "./records/Delivery.ts"
import * as Endpoint from "./records/Endpoint.ts"
import { WebhookReads } from "./records/WebhookReads.ts"
import * as Webhooks from "./Webhooks.ts"

const types = ["webhook_endpoint.disabled", "webhook_endpoint.test"] as const

const told = <const T extends (typeof types)[number]>(
  type: T,
  as: (row: Endpoint.Endpoint, atMillis: number) => Endpoint.Endpoint = (row) => row
) => ({
  as: [type],
  convert: Conversion.ofSubject(Endpoint.noun, (row, atMillis) => ({
    kind: "webhookEndpoint" as const,
    type,
    record: as(row, atMillis)
  }))
})

/**
 * Webhook endpoints and their deliveries. The sending worker is not included: a host program runs
 * `Dispatcher.layerWorker` in a process that can make requests.
 */
export const webhooks = Feature.make({
  name: "webhooks",
  nouns: [Endpoint.noun, Delivery.noun],
  lives: [Endpoint.life, Delivery.life],
  changes: Feature.changes<
    | Endpoint.EndpointCreated
    | Endpoint.EndpointChanged
    | Endpoint.EndpointRotated
    | Endpoint.EndpointEnabled
    | Endpoint.EndpointDisabled
    | Endpoint.EndpointDeleted
    | Endpoint.EndpointProgressed
    | Endpoint.EndpointTested
    | Delivery.DeliveryMade
    | Delivery.DeliveryTried
    | Delivery.DeliveryResent
  >(),
  events: {
    "webhook_endpoint.changed": "webhook_endpoints",
    "webhook_endpoint.disabled": "webhook_endpoints",
    "webhook_endpoint.test": "webhook_endpoints"
  },
  notices: {
    kind: "webhookEndpoint",
    types,
    byEvent: {
      "webhook_endpoint.disabled": told("webhook_endpoint.disabled", (row, atMillis) => ({
        ...row,
        status: "disabled",
        updatedAtMillis: atMillis
      })),
      "webhook_endpoint.test": told("webhook_endpoint.test")
    }
  },
  reads: WebhookReads,
  roles: ["webhooks", "deliveries"],
  lag: {
    about: "age of the oldest event not delivered to an enabled webhook endpoint, measured twice per minute",
    sinceMillis: Lag.waitingSinceMillis
  },
  layer: Webhooks.layer,
  workers: Forgetting.layerWorker
})
