import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import type { Claim } from "../src/sending/Claim.ts"
import * as KeptClaims from "../src/sending/KeptClaims.ts"
import * as PaymentEnds from "../src/sending/PaymentEnds.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import * as WithdrawalSteps from "../src/sending/WithdrawalSteps.ts"
import { release, sending } from "./Payments.ts"
import { has, paying, replace, run, standing, step, unheld } from "./World.ts"

const leaseMillis = 120_000

describe("Steps of withdrawals", () => {
  it.effect(
    "C19: payment worker: a claim that the store did not release is kept, and its next step is due within a second",
    () => {
      const store = { isAway: false }
      const change = replace(Tasks, (tasks) => ({
        postpone: (...given) =>
          store.isAway
            ? Effect.fail(new StoreUnavailable({ operation: "postpone", cause: "away" }))
            : tasks.postpone(...given)
      }))
      return run({ change, logsErrors: true }, function* () {
        const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        store.isAway = true
        yield* step
        store.isAway = false
        assert.strictEqual(yield* standing(row), "pending")
        yield* release(paymentHash, "settle")
        yield* TestClock.adjust("1 second")
        yield* step
        assert.strictEqual(yield* standing(row), "settled")
        assert.strictEqual((yield* has(payer)).held, 0)
      })
    }
  )

  it.effect(
    "payment worker: a withdrawal that was not sent before a takeover fails at once if the node reports a failure",
    () => {
      const change = sending(() => ({
        pay: () => Effect.succeed({ _tag: "failed", reason: "no_route" })
      }))
      return run({ change }, function* () {
        const { payer, row } = yield* paying(5000, { sats: 1000 })
        const atMillis = yield* Clock.currentTimeMillis
        const [task = assert.fail("not claimed")] = yield* (yield* Tasks).claim({
          kind: Withdrawal.taskKind,
          nowMillis: atMillis,
          leaseMillis,
          limit: 1
        })
        const claim: Claim = { ...task, atMillis, leaseMillis, heldUntilMillis: atMillis + leaseMillis }
        const ends = yield* PaymentEnds.make
        const take = yield* WithdrawalSteps.make({ ends, kept: KeptClaims.make(), stopping: Effect.never })
        yield* take([claim])
        assert.strictEqual(yield* standing(row), "failed: no_route")
        assert.deepStrictEqual(yield* has(payer), unheld(5000))
      })
    }
  )
})
