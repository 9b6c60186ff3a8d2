import * as Schedule from "@satrail/core/events/webhooks/Schedule"
import * as EventBody from "./EventBody.ts"

// What is sent to webhooks, for OpenAPI's `webhooks`: the schemas are those that bodies are rendered by.

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})

const parameters = [
  header("webhook-id", "The event's id: the same at every attempt, so that an event that comes twice is known"),
  header("webhook-timestamp", "When this attempt was signed, in whole seconds since 1970"),
  header(
    "webhook-signature",
    "Signatures of `id.timestamp.body`, separated by spaces: `v1,` with HMAC-SHA256 by the endpoint's secret (two while it is rotated), `v1a,` with Ed25519 by the service's key; base64 (Standard Webhooks 1.0.0)"
  ),
  header("x-satrail-attempt", `Which attempt this is, from 1 to ${Schedule.maxAttempts}`)
]

const responses = {
  "2XX": {
    description: `It was received. Within ${Schedule.attemptMillis / 1000} seconds; what is answered beside the status does not matter`
  },
  "410": { description: "The endpoint is gone: it is disabled at once" },
  "4XX": { description: "It was not received, and is sent again; a 429 may say when, in `Retry-After`" }
}

/** What every type of event is sent as. `tag` is the section that endpoints are in. */
export const webhooks = (tag: string) =>
  Object.fromEntries(
    [...EventBody.schemas.keys()].map((type) => [
      type,
      {
        post: {
          operationId: `webhooks.${type}`,
          tags: [tag],
          summary: type,
          description: `What is sent to an endpoint whose \`types\` have \`${type}\` in them. The same bytes as in the feed and in the stream.`,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: `#/components/schemas/${EventBody.identifierOf(type)}` } } }
          },
          responses
        }
      }
    ])
  )
