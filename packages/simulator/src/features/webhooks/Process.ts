import * as Dispatcher from "@satrail/features/webhooks/core/Dispatcher"
import { Secrets } from "@satrail/features/webhooks/core/Secrets"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"
import { Context, Layer, Redacted } from "effect"

/** The parts of a process that send webhooks. */
export const webhooks = {
  references: Context.make(Secrets, WebhookKeys.make(Redacted.make("the key that encrypts webhook secrets"))),
  workers: Layer.provide(Dispatcher.layerWorker, EventBody.layer)
}
