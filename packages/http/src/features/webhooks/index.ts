import * as OfCompany from "../../api/OfCompany.ts"
import * as Feature from "../Feature.ts"
import * as Deliveries from "./WebhookDeliveries.ts"
import * as WebhookEndpoints from "./WebhookEndpoints.ts"
import * as WebhookKeys from "./WebhookKeys.ts"

export const webhooks = Feature.make({
  sections: [WebhookEndpoints.section],
  operatorSections: [WebhookEndpoints.operatorSection],
  ofCompany: [OfCompany.read(WebhookEndpoints.list), OfCompany.read(WebhookEndpoints.get), OfCompany.read(Deliveries.list)],
  extensions: [WebhookKeys.extension]
})
