import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pace from "../src/Pace.ts"

/** A process whose time passes while somebody waits for a turn, and as `passing` says between turns. */
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
  /** How many turns there are in so long. */
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

describe("the pace of what can wait", () => {
  it.effect("pace: a process with time to spare gives as many turns as there may be, and the first at once", () =>
    Effect.gen(function* () {
      const { turn, turnsIn, pass } = process()
      pass(60_000)
      yield* turn
      isNear(yield* turnsIn(10_000), Pace.perSecond.most * 10)
    })
  )

  it.effect("pace: a process without time gives few, and never fewer than the least; when it has time again, as many as before", () =>
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

  it.effect("pace: turns that nobody took are not saved up", () =>
    Effect.gen(function* () {
      const { turnsIn, busy, pass } = process()
      busy(1)
      yield* turnsIn(5000)
      pass(60_000)
      isNear(yield* turnsIn(1000), Pace.perSecond.least)
    })
  )

  it.effect("pace: turns come in the order in which they were asked for", () =>
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
