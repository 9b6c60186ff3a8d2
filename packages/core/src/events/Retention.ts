import { Clock, Effect, Layer } from "effect"
import * as Worker from "../base/Worker.ts"
import * as Duties from "../ledger/Duties.ts"
import { EventStore } from "../ledger/EventStore.ts"
import { keptMillis } from "./Events.ts"

/** Number of events read and deleted per statement. */
export const batchSize = 5000

/** Deletes events older than the retention period, in batches. */
export const step = Effect.gen(function* () {
  const store = yield* EventStore
  const beforeMillis = (yield* Clock.currentTimeMillis) - keptMillis
  yield* Effect.repeat(store.forgetEvents(beforeMillis, batchSize), { while: (count) => count > 0 })
})

/** Runs hourly while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Duties.run("events", () => Worker.run("event retention", step, Effect.sleep("1 hour")))
)
