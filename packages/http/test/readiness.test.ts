import { assert, describe, it } from "@effect/vitest"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Deferred, Effect, Fiber, Layer, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import { type Check, layer, type Look, lookMillis, Looks, Readiness } from "../src/api/Readiness.ts"
import { operatorToken, start } from "./Service.ts"

/** A check that counts its calls, and returns `answer`. */
const counted = (answer: Effect.Effect<unknown, unknown>, name = "node") => {
  const state = { asked: 0 }
  const check: Check = {
    name,
    check: Effect.andThen(
      Effect.sync(() => state.asked++),
      answer
    )
  }
  return { state, check }
}

/** Calls `use` with two arguments: an effect that runs the first check, and the log. */
const looking = <A, E>(
  checks: ReadonlyArray<Check>,
  use: (look: Effect.Effect<Look>, logged: ReadonlyArray<string>) => Effect.Effect<A, E>
) => {
  const logged: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
  return Effect.gen(function* () {
    const [look] = [...(yield* Looks).values()]
    return yield* use(look ?? assert.fail("no check"), logged)
  }).pipe(Effect.provide(Layer.provideMerge(Layer.provide(layer, Layer.succeed(Readiness, checks)), logger)))
}

const outage = new NodeUnavailable({
  operation: "lookupInvoice",
  cause: "wallet locked",
  reason: "lnd is locked",
  remedy: "Unlock it at https://10.0.0.1:8080."
})

describe("readiness", () => {
  it.effect(
    "readiness: a thousand concurrent callers share one check, and its result is reused for a second",
    () =>
      Effect.gen(function* () {
        const { state, check } = counted(Effect.sleep(100))
        yield* looking([check], (look) =>
          Effect.gen(function* () {
            const callers = yield* Effect.forkChild(
              Effect.replicateEffect(look, 1000, { concurrency: "unbounded" })
            )
            yield* TestClock.adjust(100)
            const found = yield* Fiber.join(callers)
            assert.lengthOf(found, 1000)
            assert.isTrue(found.every(({ reason }) => reason === undefined))
            assert.strictEqual(state.asked, 1)
            yield* TestClock.adjust(899)
            yield* look
            assert.strictEqual(state.asked, 1)
            yield* TestClock.adjust(1)
            yield* Effect.andThen(Effect.forkChild(look), TestClock.adjust(100))
            assert.strictEqual(state.asked, 2)
          })
        )
      })
  )

  it.effect("readiness: a slow check is not started twice, and a check that times out fails", () =>
    Effect.gen(function* () {
      const { state, check } = counted(Effect.never)
      yield* looking([check], (look) =>
        Effect.gen(function* () {
          const first = yield* Effect.forkChild(look)
          yield* TestClock.adjust(1900)
          const second = yield* Effect.forkChild(look)
          yield* TestClock.adjust(100)
          assert.deepStrictEqual((yield* Fiber.join(first)).reason, "no response within 2 seconds")
          assert.deepStrictEqual((yield* Fiber.join(second)).reason, "no response within 2 seconds")
          assert.strictEqual(state.asked, 1)
        })
      )
    })
  )

  it.effect("readiness: a caller that disconnects does not cancel the check for other callers", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { state, check } = counted(Deferred.await(gate))
      yield* looking([check], (look) =>
        Effect.gen(function* () {
          const leaves = yield* Effect.forkChild(look, { startImmediately: true })
          const stays = yield* Effect.forkChild(look, { startImmediately: true })
          yield* Fiber.interrupt(leaves)
          yield* Deferred.succeed(gate, undefined)
          assert.strictEqual((yield* Fiber.join(stays)).reason, undefined)
          assert.strictEqual(state.asked, 1)
        })
      )
    })
  )

  it.effect("readiness: a failure is logged with its remedy when it begins, and once more when it ends", () =>
    Effect.gen(function* () {
      let isAway = true
      const { check } = counted(Effect.suspend(() => (isAway ? Effect.fail(outage) : Effect.void)))
      yield* looking([check], (look, logged) =>
        Effect.gen(function* () {
          const isReady = Metric.withAttributes(
            Metric.gauge("satrail_ready", { description: "Result of a check of /readyz: 1 or 0" }),
            {
              check: "node"
            }
          )
          for (let i = 0; i < 5; i++) {
            assert.strictEqual((yield* look).reason, "lnd is locked")
            yield* TestClock.adjust("1 second")
          }
          assert.strictEqual((yield* Metric.value(isReady)).value, 0)
          isAway = false
          for (let i = 0; i < 5; i++) {
            assert.strictEqual((yield* look).reason, undefined)
            yield* TestClock.adjust("1 second")
          }
          assert.strictEqual((yield* Metric.value(isReady)).value, 1)
          assert.deepStrictEqual(logged, [
            "not ready: node: lnd is locked. Unlock it at https://10.0.0.1:8080.",
            "ready again: node"
          ])
        })
      )
    })
  )

  it("readiness: a thousand requests and one scrape of the metrics query the node and the chain once; responses show the reason without the remedy", async () => {
    const [node, chain] = [counted(Effect.fail(outage)), counted(Effect.void, "chain")]
    const service = await start({ checks: [node.check, chain.check] })
    const beganMillis = performance.now()
    const answers = await Promise.all(Array.from({ length: 1000 }, () => service.ask("GET", "/readyz")))
    const scraped = await service.ask("GET", "/operator/metrics", { key: operatorToken })
    for (const { status, body, text } of answers) {
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(body.error?.issues, [{ path: "node", message: "lnd is locked" }])
      assert.notInclude(text, "10.0.0.1")
    }
    assert.include(scraped.text, 'satrail_ready{check="node"} 0')
    assert.include(scraped.text, 'satrail_ready{check="chain"} 1')
    const looks = 1 + Math.floor((performance.now() - beganMillis) / lookMillis)
    for (const { state } of [node, chain]) assert.isAtMost(state.asked, looks)
    await service.dispose()
  })

  it("readiness: checks of the process's own state are never cached", async () => {
    let isStopping = false
    const running: Check = {
      name: "running",
      isOurs: true,
      check: Effect.suspend(() =>
        isStopping ? Effect.fail({ reason: "the process is being stopped" }) : Effect.void
      )
    }
    const service = await start({ checks: [running] })
    assert.strictEqual((await service.ask("GET", "/readyz/running")).status, 200)
    isStopping = true
    const { status, body } = await service.ask("GET", "/readyz/running")
    assert.deepStrictEqual([status, body.error?.issues?.[0]?.message], [503, "the process is being stopped"])
    await service.dispose()
  })
})
