import * as Dispatcher from "@satrail/core/features/webhooks/Dispatcher"
import { Secrets } from "@satrail/core/features/webhooks/Secrets"
import * as EventBody from "@satrail/http/events/EventBody"
import * as WebhookKeys from "@satrail/http/features/webhooks/WebhookKeys"
import { Context, Layer, Redacted } from "effect"

/** The parts of a process that send webhooks. */
export const webhooks = {
  references: Context.make(Secrets, WebhookKeys.make(Redacted.make("the key that encrypts webhook secrets"))),
  workers: Layer.provide(Dispatcher.layerWorker, EventBody.layer)
}
