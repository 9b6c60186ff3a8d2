import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Faults from "../src/Faults.ts"

/** Faults of two parts, and the notifications that each part received. */
const make = Effect.gen(function* () {
  const told: Array<string> = []
  const part = (name: string) => (isAway: boolean) =>
    Effect.sync(() => void told.push(`${name} ${isAway ? "away" : "back"}`))
  const faults = yield* Faults.make({ node: part("node"), chain: part("chain") })
  return { told, ...faults }
})

it.effect("sandbox fault: a fault ends automatically, and until then is listed with its end time", () =>
  Effect.gen(function* () {
    const { told, begin, all } = yield* make
    yield* begin("node", 60)
    yield* begin("chain", 5)
    assert.deepStrictEqual(yield* all, [
      { what: "node", endsAtMillis: 60_000 },
      { what: "chain", endsAtMillis: 5000 }
    ])
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(yield* all, [{ what: "node", endsAtMillis: 60_000 }])
    yield* TestClock.adjust("55 seconds")
    assert.deepStrictEqual(yield* all, [])
    assert.deepStrictEqual(told, ["node away", "chain away", "chain back", "node back"])
  })
)

it.effect("sandbox fault: starting a fault again sets a new end time, whether earlier or later", () =>
  Effect.gen(function* () {
    const { told, begin, all } = yield* make
    yield* begin("node", 10)
    yield* begin("node", 100)
    yield* TestClock.adjust("50 seconds")
    assert.deepStrictEqual(yield* all, [{ what: "node", endsAtMillis: 100_000 }])
    yield* begin("node", 1)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* all, [])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(told, ["node away", "node away", "node away", "node back"])
  })
)

it.effect("sandbox fault: when an earlier fault ends, a fault that is just starting continues", () =>
  Effect.gen(function* () {
    const faults = yield* Faults.make({ node: (isAway) => (isAway ? Effect.sleep("1 second") : Effect.void) })
    yield* Effect.forkChild(faults.begin("node", 10), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    yield* TestClock.adjust("9500 millis")
    yield* Effect.forkChild(faults.begin("node", 10), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    assert.lengthOf(yield* faults.all, 1)
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(yield* faults.all, [])
  })
)

it.effect("sandbox fault: a fault can be ended early, and its scheduled end then has no effect", () =>
  Effect.gen(function* () {
    const { told, begin, end, all } = yield* make
    yield* end("node")
    yield* begin("node", 10)
    yield* end("node")
    assert.deepStrictEqual(yield* all, [])
    yield* begin("node", 100)
    yield* TestClock.adjust("10 seconds")
    assert.lengthOf(yield* all, 1)
    assert.deepStrictEqual(told, ["node away", "node back", "node away"])
  })
)

it.effect("sandbox fault: a real backend has no faults, and no fault lasts longer than the limit", () =>
  Effect.gen(function* () {
    const { told, begin } = yield* make
    assert.strictEqual((yield* Effect.flip(begin("database", 10))).reason, "not_ours")
    for (const seconds of [0, -1, 0.5, Faults.maxFaultSeconds + 1])
      assert.strictEqual((yield* Effect.flip(begin("node", seconds))).reason, "out_of_range")
    assert.deepStrictEqual(told, [])
  })
)
