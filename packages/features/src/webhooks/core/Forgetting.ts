import { Clock, Effect, Layer } from "effect"
import * as Worker from "@satrail/core/base/Worker"
import * as Events from "@satrail/core/events/Events"
import * as Duties from "@satrail/core/ledger/Duties"
import { WebhookReads } from "./records/WebhookReads.ts"
import { keptMillis } from "./Webhooks.ts"

const batchSize = 5000

/**
 * Deletes deliveries older than their retention period. Pending ones are kept for as long as events, because a
 * disabled endpoint may be enabled again.
 */
export const step = Effect.gen(function* () {
  const reads = yield* WebhookReads
  const nowMillis = yield* Clock.currentTimeMillis
  const ages = { beforeMillis: nowMillis - keptMillis, pendingBeforeMillis: nowMillis - Events.keptMillis }
  let after: string | null = null
  // Each batch continues after the last one, because pending deliveries stay.
  do after = yield* reads.forgetDeliveries({ ...ages, after, limit: batchSize })
  while (after !== null)
})

/** Runs hourly while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Duties.run("deliveries", () => Worker.run("delivery retention", step, Effect.sleep("1 hour")))
)
