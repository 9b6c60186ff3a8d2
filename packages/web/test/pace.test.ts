import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Pace from "../src/Pace.ts"

/** A simulated process. Its clock advances while a caller waits for a turn, and when `pass` is called. */
const process = () => {
  let now = 0
  let load = 0
  const nowMillis = () => now
  const turn = Pace.make({
    nowMillis,
    utilization: () => load,
    wait: (millis) => {
      now += millis
      return Promise.resolve()
    }
  })
  /** Returns the number of turns granted in this time. */
  const turnsIn = Effect.fnUntraced(function* (millis: number) {
    const end = now + millis
    let turns = 0
    for (; nowMillis() < end; turns++) yield* turn
    return turns
  })
  return { turn, turnsIn, busy: (part: number) => (load = part), pass: (millis: number) => (now += millis) }
}

const isNear = (turns: number, wanted: number) =>
  assert.isTrue(turns >= wanted * 0.95 && turns <= wanted * 1.05 + 1, `${turns} turns, not about ${wanted}`)

describe("pacing of background work", () => {
  it.effect(
    "pace: an idle process grants turns at the maximum rate, and grants the first turn immediately",
    () =>
      Effect.gen(function* () {
        const { turn, turnsIn, pass } = process()
        pass(60_000)
        yield* turn
        isNear(yield* turnsIn(10_000), Pace.perSecond.most * 10)
      })
  )

  it.effect(
    "pace: a busy process grants turns at the minimum rate, and returns to the maximum rate when it is less busy",
    () =>
      Effect.gen(function* () {
        const { turnsIn, busy } = process()
        busy(1)
        yield* turnsIn(5000)
        isNear(yield* turnsIn(10_000), Pace.perSecond.least * 10)
        busy(0.3)
        yield* turnsIn(5000)
        isNear(yield* turnsIn(10_000), Pace.perSecond.most * 10)
      })
  )

  it.effect("pace: an uninterruptible caller can be interrupted while it waits for its turn", () =>
    Effect.gen(function* () {
      const { promise, resolve } = Promise.withResolvers<void>()
      const turn = Pace.make({ nowMillis: () => 0, utilization: () => 0, wait: () => promise })
      const waiting = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(Effect.uninterruptible(turn), { startImmediately: true })
      )
      const stopping = yield* Effect.forkChild(Fiber.interruptAll(waiting), { startImmediately: true })
      const isStopped = stopping.pollUnsafe() !== undefined
      resolve()
      yield* Fiber.join(stopping)
      assert.isTrue(isStopped)
    })
  )

  it.effect("pace: unused turns are not saved", () =>
    Effect.gen(function* () {
      const { turnsIn, busy, pass } = process()
      busy(1)
      yield* turnsIn(5000)
      pass(60_000)
      isNear(yield* turnsIn(1000), Pace.perSecond.least)
    })
  )

  it.effect("pace: turns are granted in the order of requests", () =>
    Effect.gen(function* () {
      const { turn } = process()
      const came: Array<number> = []
      const asked = Array.from({ length: 50 }, (_, i) => Effect.map(turn, () => came.push(i)))
      yield* Effect.all(asked, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        came,
        came.toSorted((a, b) => a - b)
      )
      assert.strictEqual(came.length, 50)
    })
  )
})
