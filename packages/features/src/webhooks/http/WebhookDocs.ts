import { attemptMillis } from "@satrail/core/nodes/Poster"
import * as Schedule from "../core/Schedule.ts"
import type { Published } from "@satrail/http/api/Feature"

// Describes the requests sent to webhook endpoints, for the OpenAPI field `webhooks`. Bodies are rendered with
// the same schemas.

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})

/** Parameters, by component name. */
export const parameters = {
  WebhookId: header("webhook-id", "Event id. It is the same in every attempt, so you can detect duplicates"),
  WebhookTimestamp: header(
    "webhook-timestamp",
    "Time when this attempt was signed, in whole seconds since 1970"
  ),
  WebhookSignature: header(
    "webhook-signature",
    "Signatures of `id.timestamp.body`, separated by spaces, in base64 (Standard Webhooks 1.0.0). `v1,` is HMAC-SHA256 with the endpoint's secret (several during a rotation), `v1a,` is Ed25519 with the service's key"
  ),
  WebhookAttempt: header("x-satrail-attempt", `Number of this attempt, from 1 to ${Schedule.maxAttempts}`)
}

/** An endpoint's responses, by component name. */
export const responses = {
  WebhookReceived: {
    description: `Received. Respond within ${attemptMillis / 1000} seconds. The body of the response is ignored`
  },
  WebhookGone: { description: "The endpoint no longer exists. It is disabled immediately" },
  WebhookNotReceived: {
    description:
      "Not received. The event is sent again. With 429 or 503, `Retry-After` can lengthen the pause before that"
  }
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

/** Webhooks for every record type. `tag` is the section of webhook endpoints. */
export const webhooks = (tag: string, events: ReadonlyArray<Published>) =>
  Object.fromEntries(
    events.map(({ kind, types, identifier }) => [
      kind,
      {
        post: {
          operationId: `webhooks.${kind}`,
          tags: [tag],
          summary: types.join(", "),
          description: "Sends the event as the feed has it.",
          ...shared,
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: `#/components/schemas/${identifier}` } } }
          }
        }
      }
    ])
  )
