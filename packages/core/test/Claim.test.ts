import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "../src/base/CompanyId.ts"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { claimedFromStart, Tasks } from "../src/ledger/Tasks.ts"
import { type Claim, heldMillis, isEnded, laterMillis, leaseMillis, mayCall } from "../src/sending/Claim.ts"
import * as Claims from "../src/sending/Claims.ts"
import * as KeptClaims from "../src/sending/KeptClaims.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { settings } from "./Rows.ts"
import { replace, run } from "./World.ts"

const claim = (change: Partial<Claim> = {}): Claim => ({
  ...claimedFromStart(Withdrawal.paymentKind, "a", CompanyId.operator),
  atMillis: 1000,
  leaseMillis: 100,
  ...change
})

describe("Claims on withdrawals", () => {
  it("claim: calls to the node start in its first half, which is followed by the longest call", () => {
    assert.deepStrictEqual([mayCall(claim(), 1050), mayCall(claim(), 1051)], [true, false])
    assert.deepStrictEqual(
      [leaseMillis(0), leaseMillis(15_000), leaseMillis(60_000)],
      [30_000, 30_000, 120_000]
    )
  })

  it("claim: one ends when its duration is over, and not before", () => {
    assert.deepStrictEqual([isEnded(claim(), 1099), isEnded(claim(), 1100)], [false, true])
  })

  it("claim: an earlier call can reach the node until the time that the claim states", () => {
    assert.deepStrictEqual(
      [heldMillis(claim({ heldUntilMillis: 1200 }), 1150), heldMillis(claim(), 1150) <= 0],
      [50, true]
    )
  })

  it("claim: the delay until the next attempt starts at the minimum, doubles, and ends at the maximum", () => {
    const options = { ...settings, trackMillis: { minimum: 100, maximum: 1000 } }
    const delays = [1, 2, 3, 4, 5, 1000].map((attempts) => laterMillis(claim({ attempts }), options))
    assert.deepStrictEqual(delays, [100, 200, 400, 800, 1000, 1000])
    const long = { ...settings, trackMillis: { minimum: 1, maximum: Number.MAX_SAFE_INTEGER } }
    assert.deepStrictEqual(
      [20, 21, 22].map((attempts) => laterMillis(claim({ attempts }), long)),
      [2 ** 19, 2 ** 20, 2 ** 20]
    )
  })

  it("claim: the claims of a killed process are taken over within 12 s, and a process may miss one renewal", () => {
    const { everyMillis, aliveMillis } = Claims.presence
    assert.isTrue(everyMillis + aliveMillis <= 12_000 && everyMillis * 2 <= aliveMillis)
  })

  it.effect(
    "claim: a process continues under another id only after a claim without a response, and once",
    () => {
      const at = {
        why: undefined as StoreUnavailable["why"] | undefined,
        holders: new Array<string | undefined>()
      }
      const asked = (holder: string | undefined) =>
        Effect.suspend(() => {
          at.holders.push(holder)
          return at.why === undefined
            ? Effect.succeed([claimedFromStart(Withdrawal.paymentKind, "a", CompanyId.operator)])
            : Effect.fail(new StoreUnavailable({ operation: "claim", why: at.why, cause: "test" }))
        })
      const change = replace(Tasks, () => ({
        claim: ({ holder }) => asked(holder),
        takeOver: ({ holder }) => Effect.as(asked(holder), [])
      }))
      return run({ change }, function* () {
        const { due, takeOver, holder, leaseMillis } = yield* Claims.make
        const [found] = yield* due(Withdrawal.paymentKind, 1)
        assert.deepStrictEqual(
          [found?.atMillis, found?.leaseMillis],
          [yield* Clock.currentTimeMillis, leaseMillis]
        )
        const first = holder()
        const after = Effect.fnUntraced(function* (why: StoreUnavailable["why"] | undefined) {
          at.why = why
          yield* Effect.exit(due(Withdrawal.paymentKind, 1))
          at.why = undefined
          yield* takeOver
          return holder()
        })
        assert.strictEqual(yield* after(undefined), first)
        assert.strictEqual(yield* after("overloaded"), first, "the store refused the claim")
        const second = yield* after("away")
        assert.notStrictEqual(second, first)
        assert.strictEqual(at.holders.at(-1), second)
        assert.strictEqual(yield* after(undefined), second)
      })
    }
  )

  it.effect(
    "kept claims: one is due at its time, once, as its next attempt, and only as many as requested",
    () =>
      Effect.gen(function* () {
        const kept = KeptClaims.make()
        const ids = (claims: ReadonlyArray<Claim>) => claims.map(({ id, attempts }) => [id, attempts])
        for (const id of ["a", "b", "c"]) kept.keep(claim({ id }), 100)
        kept.keep(claim({ id: "later" }), 101)
        yield* TestClock.setTime(99)
        assert.deepStrictEqual(yield* kept.due(9), [])
        yield* TestClock.setTime(100)
        assert.deepStrictEqual(ids(yield* kept.due(2)), [
          ["a", 2],
          ["b", 2]
        ])
        assert.deepStrictEqual(ids(yield* kept.due(9)), [["c", 2]])
        assert.deepStrictEqual(yield* kept.due(9), [])
      })
  )

  it.effect("kept claims: the worker wakes when one becomes due, also if that one is kept meanwhile", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(0)
      const kept = KeptClaims.make()
      const waiting = yield* Effect.forkChild(kept.wake, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      kept.keep(claim(), 500)
      yield* Fiber.join(waiting)
      const timed = yield* Effect.forkChild(kept.wake, { startImmediately: true })
      yield* TestClock.adjust(499)
      assert.isUndefined(timed.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(timed)
    })
  )
})
