import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { LogUnusable } from "../src/Log.ts"
import * as Time from "../src/Time.ts"

const day = 86_400_000

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "sandbox-clock-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true }))
)

it.effect("sandbox clock: all layers above the clock use the machine's time plus the advance", () =>
  Effect.gen(function* () {
    const time = yield* Time.Time
    assert.strictEqual(yield* time.advance(day), day)
    assert.strictEqual(yield* time.advance(5), day + 5)
    assert.strictEqual(time.clock.currentTimeMillisUnsafe(), day + 5)
    assert.strictEqual(time.waking.currentTimeMillisUnsafe(), day + 5)
    assert.strictEqual(time.clock.currentTimeNanosUnsafe(), BigInt(day + 5) * 1_000_000n)
    const above = yield* Effect.provideService(Clock.currentTimeMillis, Clock.Clock, time.clock)
    assert.strictEqual(above, day + 5)
  }).pipe(Effect.provide(Time.layer()))
)

it.effect(
  "sandbox clock: an advance only runs background work that is due, and does not shorten a request's timeout",
  () =>
    Effect.gen(function* () {
      const { clock, waking, advance } = yield* Time.make()
      const sleep = (of: Clock.Clock, millis: number) =>
        Effect.forkChild(of.sleep(Duration.millis(millis)), { startImmediately: true })
      const soon = yield* sleep(waking, 3_600_000)
      const later = yield* sleep(waking, 2 * 3_600_000)
      const request = yield* sleep(clock, 3_600_000)
      yield* advance(3_600_000)
      yield* Fiber.await(soon)
      for (const fiber of [later, request]) assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(3_600_000)
      for (const fiber of [later, request]) yield* Fiber.await(fiber)
    })
)

it.effect(
  "sandbox clock: the clock only moves forward, within limits per step and in total; a violation is reported",
  () =>
    Effect.gen(function* () {
      const { advance, aheadMillis } = yield* Time.make()
      for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Time.maxAdvanceDays * day + 1])
        assert.strictEqual((yield* Effect.flip(advance(wrong))).reason, "out_of_range")
      assert.strictEqual(aheadMillis(), 0)
      for (let days = Time.maxAdvanceDays; days <= Time.maxAheadDays; days += Time.maxAdvanceDays)
        yield* advance(Time.maxAdvanceDays * day)
      const ahead = aheadMillis()
      assert.include((yield* Effect.flip(advance(Time.maxAdvanceDays * day))).message, "in total")
      assert.strictEqual(aheadMillis(), ahead)
    })
)

it.effect("sandbox clock: the clock survives a restart, and an unreadable clock is an error", () =>
  Effect.gen(function* () {
    const path = yield* directory
    const first = yield* Time.make(path)
    yield* first.advance(day)
    assert.strictEqual((yield* Time.make(path)).aheadMillis(), day)
    for (const text of ["", "soon", "-5", "1.5", String(Time.maxAheadDays * day + 1)]) {
      Fs.writeFileSync(Path.join(path, "clock"), text)
      const error = yield* Effect.flip(Layer.build(Time.layer(path)))
      assert.instanceOf(error, LogUnusable)
      assert.include(error.message, "clock")
    }
  })
)
