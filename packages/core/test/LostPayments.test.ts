import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { listening, release, sending } from "./Payments.ts"
import { Backlog } from "../src/reports/reconciliation/Backlog.ts"
import * as WaitReason from "../src/reports/reconciliation/WaitReason.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import type { Withdrawal } from "../src/sending/Withdrawal.ts"
import { companyWith, confirm, got, has, outside, replace, run, standing, step, steps } from "./World.ts"

/** A node whose records can be lost, after which it has no record of payments that it was asked to make before. */
const forgetful = () => {
  const { calls, change } = listening()
  const state = { isRestored: false, isAway: false, errors: new Array<string>() }
  const asked = new Set<string>()
  const forgetting = sending((sender) => ({
    graceMillis: 60_000,
    pay: (ask) => {
      if (state.isRestored) asked.add(ask.invoice.paymentHash)
      return sender.pay(ask)
    },
    lookupPayment: (hash) => {
      if (state.isAway) return Effect.succeed({ _tag: "unknown" } as const)
      return state.isRestored && !asked.has(hash) ? Effect.succeed({ _tag: "notFound" } as const) : sender.lookupPayment(hash)
    }
  }))
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") state.errors.push(String(message))
  })
  const pays = () => calls.filter((call) => call === "pay").length
  return {
    state,
    pays,
    logged: Effect.provide(Logger.layer([logger], { mergeWithExisting: true })),
    world: { change: (ports: Parameters<typeof change>[0]) => change(forgetting(ports)) }
  }
}

describe("A node that lost records", () => {
  it.effect(
    "C4 C8: payment worker: if the node has lost earlier payments, payments that it has no record of are neither sent again nor released, also after it has made new ones",
    () => {
      const { state, pays, logged, world } = forgetful()
      return run({ ...world, logsErrors: true }, function* () {
        const payer = yield* companyWith(50_000)
        const first = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
        yield* step
        assert.strictEqual(yield* standing(first), "settled")
        yield* TestClock.adjust("40 days")
        const held = yield* outside({ sats: 2000, behaviour: "hold" })
        const underWay = yield* confirm(payer, held.destination)
        yield* steps(2)
        const before = yield* has(payer)

        state.isRestored = true
        yield* logged(steps(30))
        assert.strictEqual(pays(), 2)
        assert.strictEqual(yield* standing(underWay), "pending")
        assert.deepStrictEqual(yield* has(payer), before)
        const lost = Effect.map((yield* Backlog).all, ({ withdrawal_lost: { oldest } }) => oldest.map(({ id, waits }) => [id, waits.for]))
        assert.deepStrictEqual(yield* lost, [[underWay.id, WaitReason.lost]])
        assert.strictEqual((yield* (yield* Backlog).withdrawal(underWay.id)).waits?.kind, "withdrawal_lost")
        state.isAway = true
        yield* logged(steps(10))
        assert.strictEqual((yield* lost).length, 1, "while the node is away, the payment stays lost")
        state.isAway = false

        const later = yield* confirm(payer, (yield* outside({ sats: 3000 })).destination)
        yield* logged(steps(30))
        assert.strictEqual(yield* standing(later), "settled")
        assert.strictEqual(pays(), 3)
        assert.strictEqual(yield* standing(underWay), "pending")
        assert.strictEqual(state.errors.length, 1, state.errors.join("\n"))
        assert.match(state.errors[0] ?? "", /^the node has lost payments\. .*docs\/guides\/lnd\.md/)

        // The original node is back.
        state.isRestored = false
        yield* steps(5)
        assert.deepStrictEqual(yield* lost, [])
        yield* release(held.paymentHash, "settle")
        yield* steps(10)
        assert.strictEqual(yield* standing(underWay), "settled")
        assert.strictEqual((yield* got(held.paymentHash)).times, 1)
      })
    }
  )

  it.effect("payment worker: a payment that the node has no record of is sent again if the node still has the earlier payments", () => {
    const { calls, change } = listening()
    let isLost = false
    const losing = sending((sender) => ({
      graceMillis: 60_000,
      pay: (ask) => (isLost ? Effect.succeed({ _tag: "unknown" } as const) : sender.pay(ask))
    }))
    return run({ change: (ports) => change(losing(ports)) }, function* () {
      const payer = yield* companyWith(50_000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* step
      isLost = true
      const second = yield* confirm(payer, (yield* outside({ sats: 2000 })).destination)
      yield* steps(3)
      assert.strictEqual(yield* standing(second), "pending")
      isLost = false
      yield* steps(20)
      assert.strictEqual(yield* standing(second), "settled")
      assert.strictEqual(calls.filter((call) => call === "pay").length, 3)
    })
  })

  it.effect("payment worker: after an outage of the node, an earlier payment is searched once for all payments of a minute", () => {
    let [isAway, searches] = [false, 0]
    const refusing = sending((sender) => ({ pay: (ask) => (isAway ? Effect.succeed({ _tag: "notSent" } as const) : sender.pay(ask)) }))
    const counting = replace(SendingReads, (reads) =>
      SendingReads.of({
        ...reads,
        settledOverLightning: (since, before) => {
          searches++
          return reads.settledOverLightning(since, before)
        }
      })
    )
    return run({ change: (ports) => counting(refusing(ports)) }, function* () {
      const payer = yield* companyWith(50_000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* step
      yield* TestClock.adjust("10 minutes")
      isAway = true
      const rows = new Array<Withdrawal>()
      for (let i = 0; i < 20; i++) rows.push(yield* confirm(payer, (yield* outside({ sats: 1000 })).destination))
      yield* steps(2, 1)
      isAway = false
      yield* steps(10)
      for (const row of rows) assert.strictEqual(yield* standing(row), "settled")
      assert.strictEqual(searches, 2, "the last minute, and the last hour")
    })
  })
})
