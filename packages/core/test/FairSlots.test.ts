import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as FairSlots from "../src/base/FairSlots.ts"

/** Runs tasks that end on demand, and records which have started, in order. */
const world = (limits: FairSlots.Limits, region = (task: Effect.Effect<void>) => task) => {
  const slots = FairSlots.make(limits)
  const started: Array<string> = []
  const run = Effect.fnUntraced(function* (task: string) {
    const ended = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(
      region(
        slots.run(
          task.slice(0, 1),
          Effect.andThen(
            Effect.sync(() => started.push(task)),
            Deferred.await(ended)
          )
        )
      ),
      { startImmediately: true }
    )
    const end = Effect.andThen(Deferred.succeed(ended, undefined), Fiber.await(fiber))
    return { end, stop: Fiber.interrupt(fiber) }
  })
  const runAll = (tasks: string) => Effect.forEach(tasks.split(" "), run)
  return { slots, started: () => started.splice(0).join(" "), run, runAll }
}

describe("Slots shared by holders", () => {
  it.effect(
    "slots: each holder and the whole run at most their number of tasks, and a holder's tasks run in order",
    () =>
      Effect.gen(function* () {
        const { slots, started, runAll } = world({ most: 3, each: 2 })
        const [a1, a2, , , b1] = yield* runAll("a1 a2 a3 a4 b1 b2")
        assert.strictEqual(started(), "a1 a2 b1")
        for (const [one, then] of [
          [a2, "b2"],
          [b1, "a3"],
          [a1, "a4"]
        ] as const) {
          yield* (one ?? assert.fail()).end
          assert.strictEqual(started(), then)
        }
        assert.isFalse(slots.isIdle())
      })
  )

  it.effect("slots: a holder whose tasks never end delays the tasks of others only until any task ends", () =>
    Effect.gen(function* () {
      const { started, run, runAll } = world({ most: 4, each: 2 })
      const [, , b1] = yield* runAll("a1 a2 b1 b2 a3 a4 a5 b3 b4")
      yield* runAll("c1 c2")
      assert.strictEqual(started(), "a1 a2 b1 b2")
      yield* (b1 ?? assert.fail()).end
      assert.strictEqual(started(), "c1", "the holder with the fewest slots is first")
      const d1 = yield* run("d1")
      assert.strictEqual(started(), "")
      yield* d1.stop
    })
  )

  it.effect("slots: holders with equally many slots take turns", () =>
    Effect.gen(function* () {
      const { started, runAll } = world({ most: 1, each: 1 })
      const [a1, a2, , b1, , c1] = yield* runAll("a1 a2 a3 b1 b2 c1")
      for (const one of [a1, b1, c1, a2]) yield* (one ?? assert.fail()).end
      assert.strictEqual(started(), "a1 b1 c1 a2 b2")
    })
  )

  it.effect("slots: an uninterruptible task can be interrupted until it starts", () =>
    Effect.gen(function* () {
      const { started, runAll } = world({ most: 1, each: 1 }, Effect.uninterruptible)
      const all = yield* runAll("a1 a2 a3")
      const stopping = yield* Effect.forEach(all.slice(0, 2), ({ stop }) =>
        Effect.forkChild(stop, { startImmediately: true })
      )
      const isStopped = stopping.map((fiber) => fiber.pollUnsafe() !== undefined)
      for (const { end } of all) yield* end
      assert.deepStrictEqual(isStopped, [false, true])
      assert.strictEqual(started(), "a1 a3")
    })
  )

  it.effect(
    "slots: an interrupted task releases its slot or its place in the queue, and nothing is left when all have ended",
    () =>
      Effect.gen(function* () {
        const { slots, started, runAll } = world({ most: 1, each: 1 })
        const all = yield* runAll("a1 a2 b1 a3")
        yield* (all[1] ?? assert.fail()).stop
        yield* (all[0] ?? assert.fail()).stop
        yield* (all[2] ?? assert.fail()).stop
        assert.strictEqual(started(), "a1 b1 a3")
        yield* (all[3] ?? assert.fail()).end
        assert.isTrue(slots.isIdle())
      })
  )
})
