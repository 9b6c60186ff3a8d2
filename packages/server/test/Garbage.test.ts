import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "@satrail/testing/Waiting"
import { afterAll } from "vitest"
import * as Garbage from "../src/serving/Garbage.ts"
import * as Service from "./Service.ts"

describe("the garbage of startup", () => {
  it.effect("server: the garbage of startup is collected once, in the first idle second", () =>
    Effect.gen(function* () {
      const busy = [1, 0.5, 0.1, 0.1]
      const collected: Array<number> = []
      const process = { measure: () => () => busy.shift() ?? 1, collect: () => collected.push(busy.length) }
      const fiber = yield* Effect.forkChild(Garbage.collectWhenIdle(process))
      yield* TestClock.adjust(2999)
      assert.deepStrictEqual(collected, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(collected, [1])
      yield* Fiber.join(fiber)
    })
  )

  it.effect(
    "server: a process that is busy for its first minute does not stop to collect the garbage of startup",
    () =>
      Effect.gen(function* () {
        let seconds = 0
        const process = {
          measure: () => () => (++seconds > 60 ? 0 : 0.5),
          collect: () => assert.fail("collected")
        }
        const fiber = yield* Effect.forkChild(Garbage.collectWhenIdle(process))
        yield* TestClock.adjust(120_000)
        yield* Fiber.join(fiber)
        assert.strictEqual(seconds, 60)
      })
  )

  const service = Service.make()
  afterAll(() => service.end())

  it("server: a service whose Node exposes the collector collects its garbage after it is ready", async () => {
    const hook = "globalThis.gc = ({ type, flavor }) => console.log('collected', type, flavor)"
    await service.start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` })
    const said = await eventually(
      "a collection",
      async () => service.stdout().join(""),
      (text) => text.includes("collected")
    )
    assert.match(said, /is running at[^]*collected major last-resort\n/)
  })
})
