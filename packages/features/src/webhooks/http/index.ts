import * as OfCompany from "@satrail/http/api/OfCompany"
import * as Feature from "@satrail/http/api/Feature"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import * as Deliveries from "./WebhookDeliveries.ts"
import * as WebhookDocs from "./WebhookDocs.ts"
import * as WebhookEndpoints from "./WebhookEndpoints.ts"
import * as WebhookKeys from "./WebhookKeys.ts"
import { errors } from "./records/WebhookErrors.ts"
import * as WebhookView from "./records/WebhookView.ts"

export const webhooks = Feature.make({
  sections: [WebhookEndpoints.section],
  operatorSections: [WebhookEndpoints.operatorSection],
  ofCompany: [
    OfCompany.read(WebhookEndpoints.list),
    OfCompany.read(WebhookEndpoints.get),
    OfCompany.read(Deliveries.list)
  ],
  openapi: (events) => ({
    members: {
      webhooks: WebhookDocs.webhooks(
        Context.getOrElse(WebhookEndpoints.section.group.annotations, OpenApi.Title, () => ""),
        events
      )
    },
    components: { parameters: WebhookDocs.parameters, responses: WebhookDocs.responses }
  }),
  extensions: [WebhookKeys.extension],
  errors,
  views: { webhookEndpoint: WebhookView.view },
  schemaExceptions: { known: ["replay_from"], wellFormed: ["url"], eventTypes: ["types"] }
})
