import { Clock, Effect, Layer } from "effect"
import * as Worker from "../base/Worker.ts"
import * as Duties from "../ledger/Duties.ts"
import { EventStore } from "../ledger/EventStore.ts"
import { keptMillis } from "./Events.ts"

/** How many events are looked at, and deleted, in one statement. */
export const batchSize = 5000

/** Deletes events that are older than they are kept, batch after batch. */
export const step = Effect.gen(function* () {
  const store = yield* EventStore
  const beforeMillis = (yield* Clock.currentTimeMillis) - keptMillis
  yield* Effect.repeat(store.forgetEvents(beforeMillis, batchSize), { while: (count) => count > 0 })
})

/** Once an hour for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(Duties.run("events", () => Worker.run("event retention", step, Effect.sleep("1 hour"))))
