import * as Dispatcher from "@satrail/features/webhooks/core/Dispatcher"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as WebhookPoster from "@satrail/web/WebhookPoster"
import { Layer } from "effect"
import type { Environment } from "../../../deployment/Environment.ts"
import * as Links from "../../../deployment/Links.ts"
import * as Simulated from "../../../deployment/Simulated.ts"
import * as Secrets from "../../../deployment/Secrets.ts"
import * as Feature from "../Feature.ts"
import * as Inboxes from "./Inboxes.ts"

/**
 * Returns the allowed targets of webhooks. A sandbox that only this machine can reach allows any host. In any
 * other sandbox, callers may be strangers, so only public hosts, the hosts in `SATRAIL_OUTBOUND_ALLOW` and this
 * process's own inboxes are allowed.
 */
export const targets = (environment: Environment): WebhookPoster.Options => {
  const { port, outboundAllow } = environment
  if (!Simulated.of(environment).web) return { outbound: { allow: outboundAllow } }
  if (Links.isLocal(environment)) return { allowsLoopback: true }
  const own = ["127.0.0.1", "localhost"].map(
    (name) => [`${name}:${port}`, new URL(`http://127.0.0.1:${port}`)] as const
  )
  return { outbound: { allow: new Map([...outboundAllow, ...own]) } }
}

/** Provides the client that posts webhooks, and the key that encrypts endpoint secrets. */
const references = (environment: Environment) =>
  Layer.merge(
    WebhookPoster.layer(targets(environment)),
    WebhookKeys.layer(environment.webhookKey ?? Secrets.secretOf(environment))
  )

export const webhooks = Feature.make({
  references,
  controls: Inboxes.operations,
  workers: (environment) => {
    const ids = Layer.succeed(EventIds.Ids, EventIds.make(Secrets.secretOf(environment)))
    return Layer.provide(Dispatcher.layerWorker, Layer.provide(EventBody.layer, ids))
  }
})
