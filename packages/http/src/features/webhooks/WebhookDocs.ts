import * as Schedule from "@satrail/core/features/webhooks/Schedule"
import { types } from "@satrail/core/events/Notice"
import * as EventBody from "../../events/EventBody.ts"

// What is sent to webhooks, for OpenAPI's `webhooks`: the schemas are those that bodies are rendered by.

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})

/** By their names as components. */
export const parameters = {
  WebhookId: header("webhook-id", "The event's id: the same at every attempt, so that an event that comes twice is known"),
  WebhookTimestamp: header("webhook-timestamp", "When this attempt was signed, in whole seconds since 1970"),
  WebhookSignature: header(
    "webhook-signature",
    "Signatures of `id.timestamp.body`, separated by spaces: `v1,` with HMAC-SHA256 by the endpoint's secret (two while it is rotated), `v1a,` with Ed25519 by the service's key; base64 (Standard Webhooks 1.0.0)"
  ),
  WebhookAttempt: header("x-satrail-attempt", `Which attempt this is, from 1 to ${Schedule.maxAttempts}`)
}

/** What an endpoint may answer, by their names as components. */
export const responses = {
  WebhookReceived: {
    description: `It was received. Within ${Schedule.attemptMillis / 1000} seconds; what is answered beside the status does not matter`
  },
  WebhookGone: { description: "The endpoint is gone: it is disabled at once" },
  WebhookNotReceived: { description: "It was not received, and is sent again; a 429 may say when, in `Retry-After`" }
}

const shared = {
  security: [],
  parameters: Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  responses: {
    "2XX": { $ref: "#/components/responses/WebhookReceived" },
    "410": { $ref: "#/components/responses/WebhookGone" },
    "4XX": { $ref: "#/components/responses/WebhookNotReceived" }
  }
}

/** What is sent about every kind of record. `tag` is the section that endpoints are in. */
export const webhooks = (tag: string) =>
  Object.fromEntries(
    EventBody.kinds.map((kind) => [
      kind,
      {
        post: {
          operationId: `webhooks.${kind}`,
          tags: [tag],
          summary: types[kind].join(", "),
          description: "The same bytes as in the feed and the stream.",
          ...shared,
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: `#/components/schemas/${EventBody.identifierOf(kind)}` } } }
          }
        }
      }
    ])
  )
