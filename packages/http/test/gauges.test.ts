import { assert, it } from "@effect/vitest"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Metric, Option } from "effect"
import { TestClock } from "effect/testing"
import { refresh } from "../src/resources/Gauges.ts"

/** Returns the age measured by a process that started at this time. `reads` runs while it reads the backlog. */
const ageSince = Effect.fnUntraced(function* (sinceMillis: number, reads: Effect.Effect<void> = Effect.void) {
  const { waiting } = yield* LedgerReads
  yield* refresh(
    {
      last: Effect.succeed(Option.none()),
      waiting: Effect.andThen(reads, waiting(0)),
      stateOwnFunds: Effect.succeed
    },
    sinceMillis
  )
  const snapshot = yield* Metric.snapshot
  return (
    snapshot.find(({ id }) => id === "satrail_reconciliation_age_seconds") ?? assert.fail("there is no age")
  ).state
})

it.effect(
  "metrics: the age of a reconciliation by a process whose clock is ahead is negative, so that an alert fires",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(60_000)
      assert.deepInclude(yield* ageSince(960_000), { value: -900 })
    }).pipe(Effect.provide(Memory.layer))
)

it.effect(
  "metrics: the age of a reconciliation that ran while the backlog was being read is not negative, so that no alert fires",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(60_000)
      assert.deepInclude(yield* ageSince(67_000, TestClock.adjust(10_000)), { value: 3 })
    }).pipe(Effect.provide(Memory.layer))
)
