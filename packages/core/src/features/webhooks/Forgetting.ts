import { Clock, Effect, Layer } from "effect"
import * as Worker from "../../base/Worker.ts"
import * as Duties from "../../ledger/Duties.ts"
import { WebhookReads } from "./records/WebhookReads.ts"
import { keptMillis } from "./Webhooks.ts"

const batchSize = 5000

/** Deletes completed and failed deliveries older than the retention period. */
export const step = Effect.gen(function* () {
  const reads = yield* WebhookReads
  const beforeMillis = (yield* Clock.currentTimeMillis) - keptMillis
  yield* Effect.repeat(reads.forgetDeliveries(beforeMillis, batchSize), { while: (count) => count > 0 })
})

/** Runs hourly while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Duties.run("deliveries", () => Worker.run("delivery retention", step, Effect.sleep("1 hour")))
)
