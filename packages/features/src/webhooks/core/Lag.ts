import { Clock, Effect, Metric, Option, Schema } from "effect"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Measure from "@satrail/core/base/Measure"
import * as Worker from "@satrail/core/base/Worker"
import type { Fence } from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"

/** Interval between measurements. */
export const everyMillis = 30_000

export const gauges = {
  lag: Measure.gauge(
    "satrail_webhook_lag_seconds",
    "Age of the oldest event that an enabled webhook endpoint has not received; 0 if there is none"
  )({}),
  horizon: Measure.gauge(
    "satrail_events_horizon_seconds",
    "Age of the oldest event that is not visible yet, because a transaction that may precede it is still open; 0 if there is none"
  )({})
}

/** Cursor in which the sending process stores its delay. */
const source = "webhook lag"
const Since = Schema.fromJsonString(Schema.NullOr(Schema.Int))

/**
 * Returns the time at which the oldest undelivered event of any enabled endpoint started waiting, or null if no
 * event is waiting. The sending process stores this value.
 */
export const waitingSinceMillis = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  return Option.getOrNull(Option.flatMap(text, Schema.decodeUnknownOption(Since)))
})

/**
 * Measures the delay of webhooks while the scope is open, in the process that sends them, and stores the result
 * for the others. The metrics of all other processes are 0, so monitoring should take the maximum over all
 * processes.
 */
export const measure = Effect.fnUntraced(function* (
  waitingSinceMillis: () => ReadonlyArray<number>,
  fence: Fence
) {
  const [store, journal, entropy] = [yield* EventStore, yield* Journal, yield* Entropy]
  let told: number | null | undefined
  const set = (lagMillis: number, horizonMillis: number) =>
    Effect.andThen(
      Metric.update(gauges.lag, Math.max(0, lagMillis) / 1000),
      Metric.update(gauges.horizon, Math.max(0, horizonMillis) / 1000)
    )
  yield* Effect.addFinalizer(() => set(0, 0))
  /** Stores the value if it has changed. */
  const tell = Effect.fnUntraced(function* (sinceMillis: number | null, nowMillis: number) {
    if (sinceMillis === told) return
    const value = Schema.encodeSync(Since)(sinceMillis)
    yield* journal.commit(
      Cursor.moved({ source, value }, Id.fromMillis(nowMillis, entropy), nowMillis, fence)
    )
    told = sinceMillis
  })
  const look = Effect.gen(function* () {
    const since = yield* store.unreadableSinceMillis
    const nowMillis = yield* Clock.currentTimeMillis
    const waiting = waitingSinceMillis()
    const oldestMillis = waiting.length === 0 ? null : waiting.reduce((a, b) => Math.min(a, b))
    yield* set(nowMillis - (oldestMillis ?? nowMillis), nowMillis - (since ?? nowMillis))
    // Another process has the role. The lease check will stop this one shortly.
    yield* Effect.catchTag(tell(oldestMillis, nowMillis), "StaleFence", () => Effect.void)
  })
  yield* Worker.runOpen("webhook lag", Effect.andThen(Effect.sleep(everyMillis), look), Effect.void)
})
