import { Clock, Effect, Metric } from "effect"
import * as Measure from "../../base/Measure.ts"
import * as Worker from "../../base/Worker.ts"
import { EventStore } from "../../ledger/EventStore.ts"
import type { Control } from "./Runner.ts"

/** How often it is measured. */
export const everyMillis = 30_000

export const gauges = {
  lag: Measure.gauge(
    "satrail_webhook_lag_seconds",
    "Age of the oldest event that an enabled webhook endpoint has not got; 0 without any"
  )({}),
  horizon: Measure.gauge(
    "satrail_events_horizon_seconds",
    "Age of the oldest event that nobody is shown yet, because a transaction that may precede it still runs; 0 without any"
  )({})
}

/**
 * Measures how late webhooks are, for as long as the scope is open: in the process that sends them. In every other one both are 0: the highest of all processes is
 * what it is.
 */
export const measure = Effect.fnUntraced(function* (controls: { readonly values: () => Iterable<Pick<Control, "waitingSinceMillis">> }) {
  const store = yield* EventStore
  const set = (lagMillis: number, horizonMillis: number) =>
    Effect.andThen(
      Metric.update(gauges.lag, Math.max(0, lagMillis) / 1000),
      Metric.update(gauges.horizon, Math.max(0, horizonMillis) / 1000)
    )
  yield* Effect.addFinalizer(() => set(0, 0))
  const look = Effect.gen(function* () {
    const since = yield* store.unreadableSinceMillis
    const nowMillis = yield* Clock.currentTimeMillis
    let oldestMillis = nowMillis
    for (const { waitingSinceMillis } of controls.values()) oldestMillis = Math.min(oldestMillis, waitingSinceMillis() ?? nowMillis)
    yield* set(nowMillis - oldestMillis, nowMillis - (since ?? nowMillis))
  })
  yield* Worker.runOpen("webhook lag", Effect.andThen(Effect.sleep(everyMillis), look), Effect.void)
})
