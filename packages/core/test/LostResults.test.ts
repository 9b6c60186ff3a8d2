import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { type InFlight, LightningBooks } from "../src/nodes/LightningBooks.ts"
import { Backlog } from "../src/reports/reconciliation/Backlog.ts"
import * as Reconciler from "../src/reports/reconciliation/Reconciler.ts"
import { Reconciliation } from "../src/reports/reconciliation/Reconciliation.ts"
import { LostWithdrawals } from "../src/sending/LostWithdrawals.ts"
import { marginBlocks } from "../src/sending/LostResult.ts"
import { settings } from "./Rows.ts"
import { release, sending } from "./Payments.ts"
import { got, has, now, paying, type Ports, replace, run, standing, steps } from "./World.ts"

const expiryHeight = 800_000
const past = expiryHeight + marginBlocks

/** A node that reports a payment as in flight, and has these HTLCs in its channels. */
const killed = () => {
  const state: { channels: InFlight; isStuck: boolean; isKnown: boolean } = {
    channels: { height: past, hashes: new Set(), isClosing: false },
    isStuck: true,
    isKnown: true
  }
  return {
    state,
    change: (ports: Context.Context<Ports>) =>
      ports.pipe(
        replace(LightningBooks, () => ({ inFlight: Effect.sync(() => state.channels) })),
        sending((sender) => ({
          lookupPayment: (hash) =>
            Effect.map(sender.lookupPayment(hash), (found) =>
              state.isStuck && found._tag !== "notFound" ? { _tag: "pending", ...(state.isKnown && { expiryHeight }) } : found
            )
        }))
      )
  }
}

const waits = (id: string) => Effect.flatMap(Backlog, (backlog) => Effect.map(backlog.withdrawal(id), ({ waits }) => waits?.kind))
const released = (id: string) =>
  Effect.flatMap(LostWithdrawals, ({ release }) =>
    Effect.match(release(id), {
      onSuccess: ({ status }): string => status,
      onFailure: (error) => (error._tag === "WithdrawalNotLost" ? (error.result ?? "not lost") : error._tag)
    })
  )

/** Compares the ledger with the node. */
const compared = Effect.gen(function* () {
  const services = yield* Layer.build(Layer.fresh(Reconciler.layer))
  yield* Context.get(services, Reconciler.Reconciler).run()
})

/** The causes of the discrepancies that last longer than the grace period. */
const causes = Effect.gen(function* () {
  yield* compared
  yield* TestClock.adjust(settings.reconciliation.graceMillis)
  yield* compared
  const report = yield* Effect.flatMap(Reconciliation, ({ last }) => last)
  return Option.getOrThrow(report).differences.map(({ cause }) => cause)
})

describe("A node that lost the result of a payment", () => {
  for (const [title, channels, isKnown, result] of [
    ["a block less than 144 after its last time lock", { height: past - 1 }, true, "in_flight"],
    ["the node is behind the chain", { height: null }, true, "node_behind"],
    ["an open channel holds it", { isHeld: true }, true, "in_channel"],
    ["a channel is closing", { isClosing: true }, true, "channel_closing"],
    ["a time lock is unknown or a part was claimed", {}, false, "in_flight"]
  ] as const) {
    it.effect(`C1: lost results: a payment in flight is neither lost nor released if ${title}`, () => {
      const world = killed()
      return run({ change: world.change }, function* () {
        const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        const { isHeld, ...rest } = { isHeld: false, ...channels }
        const counterexample = {
          ...world.state.channels,
          ...rest,
          ...(isHeld && { hashes: new Set([paymentHash ?? assert.fail("no hash")]) })
        }
        world.state.channels = counterexample
        world.state.isKnown = isKnown
        yield* steps(5)
        assert.strictEqual(yield* waits(row.id), "withdrawal_dispatched")
        assert.strictEqual(yield* released(row.id), "not lost")
        // The state changes after the service has named the payment as lost: the release checks it again.
        world.state.channels = { height: past, hashes: new Set(), isClosing: false }
        world.state.isKnown = true
        yield* TestClock.adjust("2 minutes")
        yield* steps(2)
        assert.strictEqual(yield* waits(row.id), "withdrawal_lost")
        world.state.channels = counterexample
        world.state.isKnown = isKnown
        assert.strictEqual(yield* released(row.id), result)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        // It settles late.
        world.state.isStuck = false
        yield* release(paymentHash, "settle")
        assert.strictEqual(yield* released(row.id), "not lost")
        yield* steps(5)
        assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
        assert.strictEqual(yield* released(row.id), "not lost")
        assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      })
    })
  }

  it.effect("lost results: a payment in no channel is released by an operator; if it settles after all, that is a discrepancy", () => {
    const world = killed()
    return run({ change: world.change, isPending: true, logsErrors: true }, function* () {
      yield* compared
      const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
      yield* steps(3)
      assert.deepStrictEqual([yield* waits(row.id), yield* has(payer)], ["withdrawal_lost", { posted: 5000, held: 1012 }])
      assert.strictEqual(yield* released(row.id), "failed")
      assert.strictEqual(yield* released(row.id), "failed")
      assert.deepStrictEqual([(yield* now(row)).failure, yield* has(payer)], ["node_error", { posted: 5000, held: 0 }])
      assert.notInclude(yield* causes, "payment_of_failed")
      world.state.isStuck = false
      yield* release(paymentHash, "settle")
      yield* steps(5)
      assert.include(yield* causes, "payment_of_failed")
      assert.deepStrictEqual([yield* standing(row), yield* has(payer)], ["failed: node_error", { posted: 5000, held: 0 }])
    })
  })
})
