import { assert, it } from "@effect/vitest"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Memory from "@satrail/memory/Memory"
import { Effect, Metric, Option } from "effect"
import { TestClock } from "effect/testing"
import { refresh } from "../src/resources/Gauges.ts"

it.effect("metrics: the age of a reconciliation by a process whose clock is ahead is negative, so that an alert fires", () =>
  Effect.gen(function* () {
    const { waiting } = yield* LedgerReads
    yield* TestClock.setTime(60_000)
    yield* refresh({ last: Effect.succeed(Option.none()), waiting: waiting(0), stateOwnFunds: Effect.succeed }, 960_000)
    const snapshot = yield* Metric.snapshot
    const age = snapshot.find(({ id }) => id === "satrail_reconciliation_age_seconds") ?? assert.fail("there is no age")
    assert.deepInclude(age.state, { value: -900 })
  }).pipe(Effect.provide(Memory.layer))
)
