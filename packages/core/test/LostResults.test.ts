import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { OperatorTokens } from "../src/accounts/OperatorTokens.ts"
import type { Operator } from "../src/accounts/SecondOperator.ts"
import { type InFlight, LightningBooks } from "../src/nodes/LightningBooks.ts"
import { NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { Backlog } from "../src/reports/reconciliation/Backlog.ts"
import * as Reconciler from "../src/reports/reconciliation/Reconciler.ts"
import { Reconciliation } from "../src/reports/reconciliation/Reconciliation.ts"
import { LostWithdrawals } from "../src/sending/LostWithdrawals.ts"
import { marginBlocks } from "../src/sending/LostResult.ts"
import { settings } from "./Rows.ts"
import { release, sending } from "./Payments.ts"
import { got, has, made, now, paying, type Ports, replace, run, standing, steps } from "./World.ts"

const expiryHeight = 800_000
const past = expiryHeight + marginBlocks

/** A node that reports a payment as in flight, and has these HTLCs in its channels. */
const killed = () => {
  const state = {
    channels: { height: past, hashes: new Set(), isClosing: false } as InFlight,
    isStuck: true,
    isKnown: true,
    isAway: false
  }
  return {
    state,
    change: (ports: Context.Context<Ports>) =>
      ports.pipe(
        replace(LightningBooks, () => ({
          inFlight: Effect.suspend(() =>
            state.isAway
              ? Effect.fail(new NodeUnavailable({ operation: "inFlight", cause: "away" }))
              : Effect.succeed(state.channels)
          )
        })),
        sending((sender) => ({
          lookupPayment: (hash) =>
            Effect.map(sender.lookupPayment(hash), (found) =>
              state.isStuck && found._tag !== "notFound"
                ? { _tag: "pending", ...(state.isKnown && { expiryHeight }) }
                : found
            )
        }))
      )
  }
}

const waits = (id: string) =>
  Effect.flatMap(Backlog, (backlog) => Effect.map(backlog.withdrawal(id), ({ waits }) => waits?.kind))
const released = (id: string, by?: Operator) =>
  Effect.flatMap(LostWithdrawals, ({ release }) =>
    Effect.match(release(id, undefined, by), {
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

  it.effect(
    "lost results: a lost payment stays lost, and is not released, while the node's channels cannot be read",
    () => {
      const world = killed()
      return run({ change: world.change, isPending: true }, function* () {
        const { row } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        world.state.isAway = true
        yield* steps(3)
        assert.strictEqual(
          yield* waits(row.id),
          "withdrawal_dispatched",
          "not lost before the channels were read"
        )
        world.state.isAway = false
        yield* TestClock.adjust("2 minutes")
        yield* steps(2)
        assert.strictEqual(yield* waits(row.id), "withdrawal_lost")
        world.state.isAway = true
        yield* TestClock.adjust("2 minutes")
        yield* steps(3)
        assert.deepStrictEqual(
          [yield* waits(row.id), yield* released(row.id)],
          ["withdrawal_lost", "NodeUnavailable"]
        )
        world.state.isAway = false
        world.state.channels = { ...world.state.channels, isClosing: true }
        yield* TestClock.adjust("2 minutes")
        yield* steps(3)
        assert.strictEqual(yield* waits(row.id), "withdrawal_dispatched", "no longer lost")
      })
    }
  )

  it.effect(
    "lost results: a payment in no channel is released by an operator; if it settles after all, that is a discrepancy",
    () => {
      const world = killed()
      return run({ change: world.change, isPending: true, logsErrors: true }, function* () {
        yield* compared
        const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        yield* steps(3)
        assert.deepStrictEqual(
          [yield* waits(row.id), yield* has(payer)],
          ["withdrawal_lost", { posted: 5000, held: 1012 }]
        )
        assert.strictEqual(yield* released(row.id), "failed")
        assert.strictEqual(yield* released(row.id), "failed")
        assert.deepStrictEqual(
          [(yield* now(row)).failure, yield* has(payer)],
          ["node_error", { posted: 5000, held: 0 }]
        )
        assert.notInclude(yield* causes, "payment_of_failed")
        world.state.isStuck = false
        yield* release(paymentHash, "settle")
        yield* steps(5)
        assert.include(yield* causes, "payment_of_failed")
        assert.deepStrictEqual(
          [yield* standing(row), yield* has(payer)],
          ["failed: node_error", { posted: 5000, held: 0 }]
        )
      })
    }
  )

  it.effect(
    "lost results: a released payment that the node lists as settled is a discrepancy, even while a lookup reports it in flight",
    () => {
      const world = killed()
      return run({ change: world.change, isPending: true, logsErrors: true }, function* () {
        yield* compared
        const { row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        yield* steps(3)
        assert.strictEqual(yield* released(row.id), "failed")
        yield* release(paymentHash, "settle")
        assert.include(yield* causes, "payment_of_failed")
      })
    }
  )

  it.effect(
    "lost results: a release takes a second operator, who must request it within a day of the first",
    () => {
      const world = killed()
      return run({ change: world.change, isPending: true }, function* () {
        const { payer, row } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        yield* steps(3)
        assert.strictEqual(yield* waits(row.id), "withdrawal_lost")
        const [ada, bob, adaAgain] = [
          { id: "01", name: "Ada" },
          { id: "02", name: "Bob" },
          { id: "03", name: " ada" }
        ]
        world.state.channels = { ...world.state.channels, isClosing: true }
        assert.strictEqual(
          yield* released(row.id, bob),
          "channel_closing",
          "no request is stored for a payment that is not lost"
        )
        world.state.channels = { ...world.state.channels, isClosing: false }
        for (const by of [ada, ada, adaAgain]) assert.strictEqual(yield* released(row.id, by), "SameOperator")
        // Another operator comes too late, so theirs is the first request again.
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* released(row.id, bob), "SameOperator")
        assert.strictEqual(yield* released(row.id, bob), "SameOperator")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        yield* TestClock.adjust("23 hours")
        world.state.channels = { ...world.state.channels, isClosing: true }
        assert.strictEqual(yield* released(row.id, ada), "channel_closing", "checked again")
        world.state.channels = { ...world.state.channels, isClosing: false }
        assert.strictEqual(yield* released(row.id, ada), "failed")
        assert.strictEqual(yield* released(row.id, ada), "failed", "repeated")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      })
    }
  )

  it.effect(
    "lost results: a request to release a payment no longer counts once its operator's token is revoked",
    () => {
      const world = killed()
      return run({ change: world.change, isPending: true }, function* () {
        const { payer, row } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        yield* steps(3)
        const tokens = yield* OperatorTokens
        const { token: ada } = yield* made(tokens.issue({ name: "Ada", scopes: ["all"] }))
        const bob = { id: "02", name: "Bob" }
        assert.strictEqual(yield* released(row.id, ada), "SameOperator")
        yield* tokens.revoke(ada.id)
        assert.strictEqual(yield* released(row.id, bob), "SameOperator")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        assert.strictEqual(yield* released(row.id, { id: "03", name: "Eve" }), "failed")
      })
    }
  )
})
