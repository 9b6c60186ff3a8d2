import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Lanes from "../src/edge/Lanes.ts"

/** Requests that run until a test ends them. Records the order in which they begin. */
const service = () => {
  const inLane = Lanes.make()
  const began: Array<string> = []
  const ask = (company: string, name: string) =>
    Effect.gen(function* () {
      const done = Deferred.makeUnsafe<void>()
      const work = Effect.suspend(() => {
        began.push(name)
        return Deferred.await(done)
      })
      const fiber = yield* Effect.forkChild(inLane(company)(work), { startImmediately: true })
      return { fiber, end: Effect.andThen(Deferred.succeed(done, undefined), Fiber.await(fiber)) }
    })
  const flood = (count: number) =>
    Effect.forEach(Array.from({ length: count }), (_, i) => ask("flooder", `flood ${i + 1}`))
  return { began, ask, flood }
}

/** Capacity freed in one turn of the event loop is assigned at its end. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const upTo = (count: number) => Array.from({ length: count }, (_, i) => `flood ${i + 1}`)

describe("lanes", () => {
  it.effect("lanes: the only active company is not limited, even after another company has become idle", () =>
    Effect.gen(function* () {
      const { began, ask, flood } = service()
      yield* flood(3 * Lanes.width)
      assert.deepStrictEqual(began, upTo(3 * Lanes.width))
      yield* ask("other", "other")
      yield* TestClock.adjust(Lanes.sharedMillis)
      began.length = 0
      // The first request makes the flooder the most recent company again.
      yield* flood(1)
      yield* TestClock.adjust(Lanes.sharedMillis)
      began.length = 0
      yield* flood(3 * Lanes.width)
      assert.deepStrictEqual(began, upTo(3 * Lanes.width))
    })
  )

  it.effect(
    "lanes: while two companies are active, the further requests of the busier one wait in order, but the other company does not wait",
    () =>
      Effect.gen(function* () {
        const { began, ask, flood } = service()
        yield* ask("other", "other")
        const asked = yield* flood(Lanes.width + 3)
        assert.deepStrictEqual(began, ["other", ...upTo(Lanes.width)])
        yield* ask("other", "again")
        assert.strictEqual(began.at(-1), "again")
        for (const { end } of asked.slice(0, 2)) yield* end
        yield* turn
        assert.deepStrictEqual(began.slice(-2), [`flood ${Lanes.width + 1}`, `flood ${Lanes.width + 2}`])
      })
  )

  it.effect(
    "lanes: when the other company is only occasionally active, a busy company gets more slots, and its waiting requests start immediately",
    () =>
      Effect.gen(function* () {
        const { began, ask, flood } = service()
        yield* ask("other", "other")
        const asked = yield* flood(1)
        yield* TestClock.adjust(Lanes.crowdedMillis / 2)
        const more = yield* flood(Lanes.wideWidth + 3)
        assert.deepStrictEqual(began, ["other", ...upTo(1), ...upTo(Lanes.width - 1)])
        yield* TestClock.adjust(Lanes.crowdedMillis / 2)
        began.length = 0
        for (const { end } of asked) yield* end
        yield* turn
        assert.strictEqual(began.length, 1 + Lanes.wideWidth - Lanes.width)
        began.length = 0
        for (const { end } of more.slice(0, 2)) yield* end
        yield* turn
        assert.strictEqual(began.length, 2)
      })
  )

  it.effect(
    "lanes: if the other company has been idle for a while, a busy company has the larger number of slots from its first request",
    () =>
      Effect.gen(function* () {
        const { began, ask, flood } = service()
        yield* ask("other", "other")
        yield* TestClock.adjust(Lanes.crowdedMillis)
        yield* flood(Lanes.wideWidth + 3)
        assert.deepStrictEqual(began, ["other", ...upTo(Lanes.wideWidth)])
      })
  )

  it.effect("lanes: a request canceled while waiting or running frees its slot", () =>
    Effect.gen(function* () {
      const { began, ask, flood } = service()
      yield* ask("other", "other")
      const asked = yield* flood(Lanes.width + 3)
      const [first, next] = [
        asked[0] ?? assert.fail("no request runs"),
        asked[Lanes.width] ?? assert.fail("no request waits")
      ]
      yield* Fiber.interrupt(next.fiber)
      yield* Fiber.interrupt(first.fiber)
      yield* turn
      assert.strictEqual(began.at(-1), `flood ${Lanes.width + 2}`)
      assert.notInclude(began, `flood ${Lanes.width + 1}`)
      yield* Effect.forEach(asked, ({ fiber }) => Fiber.interrupt(fiber))
      yield* turn
      began.length = 0
      yield* flood(Lanes.width)
      assert.deepStrictEqual(began, upTo(Lanes.width))
    })
  )

  it.effect("lanes: no request waits longer than the limit, even if no earlier request finishes", () =>
    Effect.gen(function* () {
      const { began, ask, flood } = service()
      yield* ask("other", "other")
      const asked = yield* flood(2 * Lanes.width)
      yield* TestClock.adjust(Lanes.maxWaitMillis)
      assert.deepStrictEqual(began, ["other", ...upTo(2 * Lanes.width)])
      // More requests are active than there are slots, so ending one does not free a slot.
      yield* ask("other", "again")
      yield* flood(1)
      yield* (asked[0] ?? assert.fail("no request runs")).end
      yield* turn
      assert.strictEqual(began.length, 2 + 2 * Lanes.width)
    })
  )
})
