import { assert, describe, it } from "@effect/vitest"
import { SimulatedDns } from "@satrail/sandbox/SimulatedDns"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { Signer } from "../src/nodes/Signer.ts"
import { settings } from "./Rows.ts"
import {
  companyWith,
  confirm,
  has,
  mine,
  outputsOf,
  outside,
  type Ports,
  replace,
  run,
  standing,
  start,
  type Steps,
  weather,
  type World,
  working
} from "./World.ts"

/**
 * A signer that waits before it signs, as `patience` returns for each call. Counts the calls, those that have
 * not ended, and their maximum at a time.
 */
const slowly = (patience: (call: number) => Effect.Effect<void>) => {
  const calls = { asked: 0, open: 0, most: 0 }
  const isOver = Deferred.makeUnsafe<void>()
  const change = replace(Signer, ({ sign }) => ({
    sign: (psbt) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          calls.asked++
          calls.open++
          calls.most = Math.max(calls.most, calls.open)
          return calls.asked
        }),
        (call) => Effect.andThen(Effect.raceFirst(patience(call), Deferred.await(isOver)), sign(psbt)),
        () => Effect.sync(() => calls.open--)
      )
  }))
  /** Runs a scenario. If it fails, the signer answers, because otherwise the processes could not stop. */
  const story = ({ change: other = (ports) => ports, ...world }: World, steps: Steps<World>) =>
    run({ ...world, change: (ports) => change(other(ports)) }, function* (world) {
      yield* Effect.ensuring(
        Effect.gen(() => steps(world)),
        Deferred.succeed(isOver, undefined)
      )
    })
  return { calls, story }
}

const after = (seconds: number) => Effect.sleep(seconds * 1000)

/** Starts the workers of two processes on these ports. */
const twoProcesses = Effect.gen(function* () {
  const ports = yield* Effect.context<Ports>()
  return [yield* working(yield* start(ports)), yield* working(yield* start(ports))] as const
})

const payout = Effect.fnUntraced(function* (payer: Parameters<typeof confirm>[0]) {
  return yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 20_000)
})

const settles = Effect.fnUntraced(function* (
  ...rows: ReadonlyArray<Effect.Success<ReturnType<typeof confirm>>>
) {
  yield* mine(1)
  yield* TestClock.adjust("15 seconds")
  for (const row of rows) {
    assert.strictEqual(yield* standing(row), "settled")
    assert.deepStrictEqual(yield* outputsOf(row), [["mined", 20_000]])
  }
})

describe("A slow signer", () => {
  it.effect(
    "C19: slow signer: a payout that takes longer to sign than its claim lasts is signed once, by one process",
    () => {
      const { calls, story } = slowly(() => after(100))
      return story({}, function* () {
        yield* twoProcesses
        const row = yield* payout(yield* companyWith(50_000))
        yield* TestClock.adjust("110 seconds")
        assert.deepStrictEqual(calls, { asked: 1, open: 0, most: 1 })
        yield* settles(row)
      })
    }
  )

  it.effect(
    "slow signer: a process asks the signer for one transaction at a time, and each of its payouts is signed once",
    () => {
      const { calls, story } = slowly(() => after(100))
      return story({}, function* () {
        yield* working()
        const payer = yield* companyWith(100_000)
        const rows = yield* Effect.forEach([1, 2, 3], () => payout(payer))
        yield* TestClock.adjust("330 seconds")
        assert.deepStrictEqual(calls, { asked: 3, open: 0, most: 1 })
        yield* settles(...rows)
      })
    }
  )

  it.effect(
    "C19: slow signer: a replacement that takes longer to sign than its claim lasts is signed once, by one process",
    () => {
      const { sky, change } = weather()
      const slow = slowly((call) => (call === 1 ? Effect.void : after(100)))
      return slow.story({ change }, function* () {
        yield* twoProcesses
        yield* payout(yield* companyWith(50_000))
        yield* TestClock.adjust("29 minutes")
        assert.strictEqual(slow.calls.asked, 1)
        sky.rate = 3
        yield* TestClock.adjust("170 seconds")
        assert.deepStrictEqual(slow.calls, { asked: 2, open: 0, most: 1 })
        yield* mine(6)
        yield* TestClock.adjust("15 seconds")
      })
    }
  )

  it.effect(
    "C19: slow signer: if the store cannot renew the claim, signing stops before another process may sign",
    () => {
      const { calls, story } = slowly((call) => (call === 1 ? Effect.never : Effect.void))
      const forgetful = replace(Tasks, () => ({
        renew: () =>
          Effect.fail(new StoreUnavailable({ operation: "Tasks.renew", cause: "away", why: "away" }))
      }))
      return story({ change: forgetful }, function* () {
        yield* twoProcesses
        const row = yield* payout(yield* companyWith(50_000))
        yield* TestClock.adjust("60 seconds")
        assert.deepStrictEqual(calls, { asked: 2, open: 0, most: 1 })
        yield* settles(row)
      })
    }
  )
})

describe("A hung signer", () => {
  it.effect("hung signer: a sent payout settles while the signer hangs", () => {
    const { calls, story } = slowly((call) => (call === 1 ? Effect.void : Effect.never))
    return story({ isPending: true }, function* () {
      yield* working()
      const payer = yield* companyWith(200_000)
      const sent = yield* payout(payer)
      yield* TestClock.adjust("2 seconds")
      const waiting = yield* Effect.forEach([1, 2, 3], () => payout(payer))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(calls, { asked: 2, open: 1, most: 1 })
      yield* settles(sent)
      for (const row of waiting) assert.strictEqual(yield* standing(row), "pending")
    })
  })

  it.effect(
    "hung signer: payouts to names do not use up the slots for requests to payees' servers while the signer hangs",
    () => {
      const { calls, story } = slowly(() => Effect.never)
      return story({ isPending: true }, function* () {
        yield* working()
        const payer = yield* companyWith(500_000)
        const { destination } = yield* outside({ type: "chain_address" })
        yield* (yield* SimulatedDns).set("hold.user._bitcoin-payment.wallet.example", [
          `bitcoin:${destination}`
        ])
        yield* Effect.forEach(Array.from({ length: settings.resolving.perHost }), () =>
          confirm(payer, "hold@wallet.example", 20_000)
        )
        yield* TestClock.adjust("2 seconds")
        const fast = yield* confirm(payer, "settle@wallet.example", 1000)
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual([calls.open, yield* standing(fast)], [1, "settled"])
      })
    }
  )

  it.effect(
    "hung signer: after ten minutes without a signature, the payout's funds stay held, and it is signed again",
    () => {
      const { calls, story } = slowly((call) => (call === 1 ? Effect.never : Effect.void))
      return story({ logsErrors: true }, function* () {
        yield* working()
        const payer = yield* companyWith(50_000)
        const row = yield* payout(payer)
        yield* TestClock.adjust("599 seconds")
        assert.deepStrictEqual(
          [calls.asked, yield* standing(row), (yield* has(payer)).held],
          [1, "pending", 20_620]
        )
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(calls, { asked: 2, open: 0, most: 1 })
        yield* settles(row)
      })
    }
  )

  it.effect(
    "hung signer: a process stops without waiting for the signer, and another process sends the payout",
    () => {
      const asked = Deferred.makeUnsafe<void>()
      const { calls, story } = slowly((call) =>
        call === 1 ? Effect.andThen(Deferred.succeed(asked, undefined), Effect.never) : Effect.void
      )
      return story({}, function* () {
        const stopped = yield* working()
        const row = yield* payout(yield* companyWith(50_000))
        yield* TestClock.adjust("1 second")
        yield* Deferred.await(asked)
        const stopping = yield* Effect.forkChild(Scope.close(stopped, Exit.void))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(calls.open, 0)
        yield* Fiber.join(stopping)
        yield* working(yield* start(yield* Effect.context<Ports>()))
        yield* TestClock.adjust("15 seconds")
        assert.strictEqual(calls.asked, 2)
        yield* settles(row)
      })
    }
  )
})
