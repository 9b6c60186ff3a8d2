import * as Feature from "../../../ledger/Feature.ts"
import * as Telling from "../../../ledger/Telling.ts"
import * as Delivery from "./Delivery.ts"
import * as Endpoint from "./Endpoint.ts"
import { WebhookReads } from "./WebhookReads.ts"

const types = ["webhook_endpoint.disabled", "webhook_endpoint.test"] as const

const told = <const T extends (typeof types)[number]>(
  type: T,
  as: (row: Endpoint.Endpoint, atMillis: number) => Endpoint.Endpoint = (row) => row
) => ({
  as: [type],
  tell: Telling.ofSubject(Endpoint.noun, (row, atMillis) => ({ kind: "webhookEndpoint" as const, type, record: as(row, atMillis) }))
})

/**
 * Records of webhooks, and notices about endpoints. Notices are made from the list of features, which includes
 * this part. That list cannot include the services in `../index.ts`, because they send notices.
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
    told: {
      "webhook_endpoint.disabled": told("webhook_endpoint.disabled", (row, atMillis) => ({
        ...row,
        status: "disabled",
        updatedAtMillis: atMillis
      })),
      "webhook_endpoint.test": told("webhook_endpoint.test")
    }
  },
  reads: WebhookReads
})
