import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Cause, Clock, Deferred, Effect, Exit, Latch, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Worker from "../src/base/Worker.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import { settings } from "./Rows.ts"
import {
  company,
  confirm,
  got,
  has,
  invoice,
  lightningAddress,
  now,
  onChainAddress,
  outside,
  paying,
  replace,
  run,
  scenario,
  standing,
  steps,
  unheld
} from "./World.ts"

describe("A worker", () => {
  it.effect("worker: a worker repeats its step, with a pause between repetitions", () =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const note = Effect.map(Clock.currentTimeMillis, (millis) => at.push(millis))
      yield* Worker.run("test", note, Effect.sleep("1 second"))
      yield* TestClock.adjust("3500 millis")
      assert.deepStrictEqual(at, [0, 1000, 2000, 3000])
    })
  )

  it.effect(
    "worker: after a failed step, a worker waits up to half a minute before the next step, and returns to its normal pace once a step succeeds",
    () =>
      Effect.gen(function* () {
        const at: Array<number> = []
        const flaky = Effect.flatMap(Clock.currentTimeMillis, (millis) => {
          at.push(millis)
          if (at.length === 1) return Effect.fail("away")
          return at.length < 12 ? Effect.die("broken") : Effect.void
        })
        yield* Worker.run("test", flaky, Effect.sleep("1 minute"))
        yield* TestClock.adjust("10 minutes")
        const pauses = at.slice(1).map((millis, index) => millis - (at[index] ?? 0))
        assert.deepStrictEqual(
          pauses.slice(0, 11),
          [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]
        )
        assert.deepStrictEqual(pauses.slice(11, 14), [60_000, 60_000, 60_000])
      })
  )

  it.effect("worker: after many failures, new work starts a step, but at most every five seconds", () =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const signal = yield* Latch.make(false)
      const failing = Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (millis) => at.push(millis)),
        Effect.die("broken")
      )
      yield* Worker.run("test", failing, Effect.andThen(signal.await, signal.close))
      const before = 301_500
      yield* TestClock.adjust(before)
      assert.strictEqual(at.at(-1), before)
      yield* TestClock.adjust(7000)
      yield* signal.open
      yield* TestClock.adjust(0)
      assert.strictEqual(at.at(-1), before + 7000)
      for (let second = 0; second < 20; second++)
        yield* Effect.andThen(signal.open, TestClock.adjust("1 second"))
      assert.deepStrictEqual(
        at.slice(-4).map((millis) => millis - before),
        [12_000, 17_000, 22_000, 27_000]
      )
    })
  )

  it.effect(
    "worker: an outage with a reason is logged once while it lasts, and any other failure is logged each time",
    () => {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const away = (reason: string) =>
        Effect.fail(new NodeUnavailable({ operation: "test", cause: "away", reason }))
      const steps = [
        away("lnd is locked"),
        away("lnd is locked"),
        away("lnd is starting"),
        Effect.void,
        away("lnd is locked"),
        Effect.fail("x"),
        Effect.fail("x"),
        Effect.catchCause(away("lnd is locked"), (cause) =>
          Effect.failCause(Cause.combine(cause, Cause.die("a bug")))
        )
      ]
      let at = 0
      return Effect.gen(function* () {
        yield* Worker.run(
          "test",
          Effect.suspend((): Effect.Effect<void, unknown> => steps[at++] ?? Effect.void),
          Effect.sleep("1 second")
        )
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(logged, [
          "test: waiting: lnd is locked",
          "test: waiting: lnd is starting",
          "test: waiting: lnd is locked",
          "test: failed; will retry",
          "test: failed; will retry",
          "test: failed; will retry"
        ])
      }).pipe(Effect.provide(logger))
    }
  )

  it.effect("C5: worker: a worker finishes its step before it stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const goesOn = yield* Deferred.make<void>()
      let finished = 0
      const slow = Effect.andThen(
        Deferred.await(goesOn),
        Effect.sync(() => finished++)
      )
      yield* Scope.provide(Worker.run("test", slow, Effect.sleep("1 second")), scope)
      yield* Effect.yieldNow
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(closing.pollUnsafe(), undefined)
      yield* Deferred.succeed(goesOn, undefined)
      yield* TestClock.adjust("1 hour")
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual(finished, 1)
    })
  )

  it.effect("worker: a worker that only listens stops immediately", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.provide(Worker.runOpen("test", Effect.never, Effect.void), scope)
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
    })
  )
})

/** Logs of a service whose store does not respond when the first payment is dispatched. */
const awayOnce = () => {
  const logged: Array<string> = []
  let isAway = true
  const outage = new StoreUnavailable({
    operation: "test",
    cause: "away",
    reason: "the database does not respond"
  })
  const change = replace(Journal, ({ commit }) => ({
    commit: (change) => {
      if (!isAway || change._tag !== "WithdrawalDispatched") return commit(change)
      isAway = false
      return Effect.fail(outage)
    }
  }))
  return {
    change,
    logged,
    logger: Logger.layer([
      Logger.make(({ logLevel, message }) => void logged.push(`${logLevel}: ${message}`))
    ])
  }
}

scenario(
  "worker: an outage during a withdrawal's step is logged as a warning with its reason",
  awayOnce,
  function* ({ logged, logger }) {
    const { row } = yield* paying(10_000, { sats: 1000 })
    yield* Effect.provide(steps(3), logger)
    assert.strictEqual(yield* standing(row), "settled")
    assert.deepStrictEqual(logged, [
      "Warn: withdrawal: step failed; will retry: the database does not respond"
    ])
  }
)

describe("All workers together", () => {
  scenario(
    "background workers: all due work is done, and every worker survives outages",
    { logsErrors: true },
    function* () {
      const workers = yield* Effect.forkScoped(
        Effect.scoped(Effect.andThen(Layer.build(Satrail.layerWorkers), Effect.never))
      )
      const { pay, pause, resume, mine, send } = yield* Sandbox
      const [payer, payee] = [yield* company(), yield* company()]
      const { paymentRequest } = yield* invoice(payer, 50_000)
      yield* pay({ paymentRequest })
      const { address } = yield* onChainAddress(payee)
      yield* send({ address, amount: Msat.fromSats(3000) })
      yield* mine(2)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(50_000), unheld(3000)])

      yield* pause("node")
      yield* pause("chain")
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      const { handle, domain } = yield* lightningAddress(payee)
      const [out, inside] = [
        yield* confirm(payer, destination),
        yield* confirm(payer, `${handle}@${domain}`, 500)
      ]
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual([yield* standing(out), yield* standing(inside)], ["pending", "settled"]) // an internal payment needs no node
      yield* resume("node")
      yield* resume("chain")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* standing(out), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.strictEqual(workers.pollUnsafe(), undefined)
    }
  )

  it.effect(
    "background workers: payouts are sent at the end of their window, however long a Lightning payment takes",
    () => {
      const answers = Deferred.makeUnsafe<void>()
      const change = replace(LightningSender, (sender) => ({
        pay: (ask) => Effect.andThen(Deferred.await(answers), sender.pay(ask))
      }))
      return run(
        // The window that is open at the start ends after 40 seconds.
        { settings: { ...settings, payoutWindowMillis: 60_000 }, change },
        function* () {
          yield* Effect.forkScoped(
            Effect.scoped(Effect.andThen(Layer.build(Satrail.layerWorkers), Effect.never))
          )
          const { payer, row: slow } = yield* paying(100_000, { sats: 1000 })
          yield* TestClock.adjust("1 second")
          const rows = yield* Effect.forEach([20_000, 30_000], (sats) =>
            Effect.flatMap(outside({ type: "chain_address" }), ({ destination }) =>
              confirm(payer, destination, sats)
            )
          )
          const ids = Effect.map(Effect.forEach(rows, now), (all) => all.map(({ chainTxId }) => chainTxId))
          yield* TestClock.adjust("30 seconds")
          assert.deepStrictEqual(yield* ids, [null, null])
          yield* TestClock.adjust("31 seconds")
          const [first, second] = yield* ids
          assert.isTrue(first !== null && first === second)
          yield* Deferred.succeed(answers, undefined)
          yield* (yield* Sandbox).mine(1)
          yield* TestClock.adjust("2 minutes")
          assert.deepStrictEqual(yield* Effect.forEach([slow, ...rows], standing), [
            "settled",
            "settled",
            "settled"
          ])
        }
      )
    }
  )
})
