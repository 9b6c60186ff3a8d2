import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Clock, Effect, HashMap, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import { listening, release, sending } from "./Payments.ts"
import * as Id from "../src/base/Id.ts"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import type { LightningSender, NotFound } from "../src/nodes/LightningSender.ts"
import { OfferSender } from "../src/nodes/OfferSender.ts"
import type { LookupResult } from "../src/sending/NodePayments.ts"
import * as LostPayments from "../src/sending/LostPayments.ts"
import * as LostWithdrawal from "../src/sending/LostWithdrawal.ts"
import { LostWithdrawals } from "../src/sending/LostWithdrawals.ts"
import { Backlog } from "../src/reports/reconciliation/Backlog.ts"
import * as WaitReason from "../src/reports/reconciliation/WaitReason.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import {
  companyWith,
  confirm,
  got,
  has,
  mine,
  now,
  outside,
  paying,
  replace,
  run,
  standing,
  step,
  steps,
  working
} from "./World.ts"

/** A node whose records can be lost, after which it has no record of payments that it was asked to make before. */
const forgetful = () => {
  const { calls, change } = listening()
  /** What the node would report if it had its records. */
  let original: LightningSender["Service"]["lookupPayment"] = () => Effect.die("not started")
  const state = { isRestored: false, isAway: false, errors: new Array<string>() }
  const asked = new Set<string>()
  const forgetting = sending((sender) => ({
    graceMillis: ((original = sender.lookupPayment), 60_000),
    pay: (ask) => {
      if (state.isRestored) asked.add(ask.invoice.paymentHash)
      return sender.pay(ask)
    },
    lookupPayment: (hash) => {
      if (state.isAway) return Effect.succeed({ _tag: "unknown" } as const)
      return state.isRestored && !asked.has(hash)
        ? Effect.succeed({ _tag: "notFound" } as const)
        : sender.lookupPayment(hash)
    }
  }))
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") state.errors.push(String(message))
  })
  const pays = () => calls.filter((call) => call === "pay").length
  return {
    state,
    pays,
    original: (hash: PaymentHash | null) => original(hash ?? ("" as PaymentHash)),
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
        const { payer, row: first } = yield* paying(50_000, { sats: 1000 })
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
        const lost = Effect.map((yield* Backlog).all, ({ withdrawal_lost: { oldest } }) =>
          oldest.map(({ id, waits }) => [id, waits.for])
        )
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

  it.effect(
    "payment worker: a payment that the node has no record of is sent again if the node still has the earlier payments",
    () => {
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
    }
  )

  it.effect(
    "payment worker: only payments settled before the minute of the dispatch show whether the node lost its records",
    () => {
      const minute = 60_000
      const ranges = new Array<readonly [number, number]>()
      let failures = 1
      const reading = replace(SendingReads, () => ({
        settledOverLightning: (since, before) =>
          Effect.suspend(() => {
            if (failures-- > 0) return Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
            ranges.push([since, before])
            return Effect.succeedNone
          })
      }))
      return run({ change: reading }, function* () {
        const recordOf = yield* LostPayments.make
        yield* Effect.flip(recordOf(10 * minute)) // a failed search is not remembered
        for (const dispatchedAtMillis of [10 * minute, 11 * minute - 1]) {
          assert.strictEqual(
            yield* recordOf(dispatchedAtMillis),
            "kept",
            "without an earlier payment, the node is believed"
          )
          assert.deepStrictEqual(
            ranges.map(([since, before]) => [before - since, before]),
            [1, 60, 24 * 60, 30 * 24 * 60, 365 * 24 * 60].map((minutes) => [minutes * minute, 10 * minute])
          )
        }
        yield* recordOf(11 * minute)
        assert.deepStrictEqual(ranges[5], [10 * minute, 11 * minute])
      })
    }
  )

  it.effect(
    "C4 C8: payment worker: the node kept its records only if it reports the earlier payment as settled, and lost them only if it has none",
    () => {
      let earlier: LookupResult | undefined
      const { state, logged } = forgetful()
      const looking = sending((sender) => ({
        lookupPayment: (hash) =>
          earlier === undefined ? sender.lookupPayment(hash) : Effect.succeed(earlier)
      }))
      return run({ change: looking, logsErrors: true }, function* () {
        const { row } = yield* paying(50_000, { sats: 1000 })
        yield* step
        yield* TestClock.adjust("1 hour")
        const recordOf = yield* LostPayments.make
        const nowMillis = yield* Clock.currentTimeMillis
        assert.strictEqual(yield* recordOf(nowMillis), "kept")
        for (const [result, record] of [
          [{ _tag: "notFound" }, "lost"],
          [{ _tag: "pending" }, "unknown"],
          [{ _tag: "failed", reason: "error" }, "unknown"],
          [{ _tag: "unknown" }, "unknown"]
        ] as const) {
          earlier = result
          assert.strictEqual(yield* recordOf(nowMillis), record)
        }
        // A loss is logged once, and again only after the node had its records in between.
        state.errors.length = 0
        for (const result of ["notFound", "unknown", "notFound", "settled", "notFound"] as const) {
          earlier = result === "settled" ? undefined : { _tag: result }
          yield* logged(recordOf(nowMillis))
        }
        assert.lengthOf(state.errors, 1)
        assert.strictEqual(yield* standing(row), "settled")
      })
    }
  )

  it.effect(
    "payment worker: after an outage of the node, an earlier payment is searched once for all payments of a minute",
    () => {
      let [isAway, searches] = [false, 0]
      const refusing = sending((sender) => ({
        pay: (ask) => (isAway ? Effect.succeed({ _tag: "notSent" } as const) : sender.pay(ask))
      }))
      const counting = replace(SendingReads, (reads) => ({
        settledOverLightning: (since, before) => {
          searches++
          return reads.settledOverLightning(since, before)
        }
      }))
      return run({ change: (ports) => counting(refusing(ports)) }, function* () {
        const payer = yield* companyWith(50_000)
        yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
        yield* step
        yield* TestClock.adjust("10 minutes")
        isAway = true
        const rows = new Array<Withdrawal.Withdrawal>()
        for (let i = 0; i < 20; i++)
          rows.push(yield* confirm(payer, (yield* outside({ sats: 1000 })).destination))
        yield* steps(2, 1)
        isAway = false
        yield* steps(10)
        for (const row of rows) assert.strictEqual(yield* standing(row), "settled")
        assert.strictEqual(searches, 2, "the last minute, and the last hour")
      })
    }
  )
})

/** Returns what an operator's request is answered with: the withdrawal's status, or the refusal. */
const ended = (
  request: Effect.Effect<Withdrawal.Withdrawal, { readonly _tag: string; readonly path?: string }>
) =>
  Effect.match(request, {
    onSuccess: ({ status }) => status,
    onFailure: ({ _tag, path = "" }) => `${_tag} ${path}`.trim()
  })

/**
 * A node whose responses to payments are lost. After `accept`, it has no record of a payment and knows that it
 * lost those made before.
 */
const accepting = () => {
  const state: { lostBeforeMillis?: number } = {}
  const payments = new Map<string, LookupResult>()
  const unheard = Effect.as({ _tag: "unknown" } as const)
  const found = <A extends LookupResult>(
    key: string,
    lookup: Effect.Effect<A>
  ): Effect.Effect<A | NotFound> =>
    Effect.map(lookup, (payment) => {
      payments.set(key, payment)
      return state.lostBeforeMillis === undefined ? payment : { _tag: "notFound", ...state }
    })
  return {
    payments,
    accept: Effect.map(Clock.currentTimeMillis, (atMillis) => (state.lostBeforeMillis = atMillis)),
    change: (ports: Parameters<ReturnType<typeof listening>["change"]>[0]) =>
      ports.pipe(
        sending((sender) => ({
          graceMillis: 60_000,
          pay: (ask) => unheard(sender.pay(ask)),
          lookupPayment: (hash) => found(hash, sender.lookupPayment(hash))
        })),
        replace(OfferSender, (offers) => ({
          graceMillis: 60_000,
          payOffer: (ask) => unheard(offers.payOffer(ask)),
          lookupOffer: (attempt) => found(attempt, offers.lookupOffer(attempt))
        }))
      )
  }
}

describe("A node that knows that it lost records", () => {
  for (const type of ["lightning_invoice", "bolt12_offer"] as const) {
    const node = accepting()
    it.effect(
      `C4 C8: payment worker: a payment to a ${type} from before the loss is not sent again, and an operator ends it`,
      () =>
        run({ change: node.change }, function* () {
          const payer = yield* companyWith(50_000)
          const [held, settled] = [
            yield* outside({ sats: 1000, type, behaviour: "hold" }),
            yield* outside({ sats: 2000, type })
          ]
          const [unpaid, paid] = [
            yield* confirm(payer, held.destination, 1000),
            yield* confirm(payer, settled.destination, 2000)
          ]
          yield* step
          yield* TestClock.adjust("1 second")
          const atMillis = yield* node.accept
          yield* steps(10)
          assert.deepStrictEqual([yield* standing(unpaid), yield* standing(paid)], ["pending", "pending"])
          const { settle, release: end } = yield* LostWithdrawals
          const payment = node.payments.get((yield* now(paid)).paymentHash ?? paid.id)
          if (payment?._tag !== "settled") return assert.fail(payment?._tag)
          assert.strictEqual(
            yield* ended(settle(paid.id, { preimage: payment.preimage, networkFee: payment.fee })),
            "settled"
          )
          assert.strictEqual(Withdrawal.hashOf(yield* now(paid)), Preimage.hashOf(payment.preimage))
          const refusal = yield* Effect.flip(end(unpaid.id))
          if (refusal._tag !== "WithdrawalNotLost" || refusal.untilMillis === null)
            return assert.fail(refusal._tag)
          assert.isAtLeast(refusal.untilMillis, atMillis + LostWithdrawal.claimableMillis)
          const { lightning } = yield* (yield* Sandbox).state
          for (const { paymentHash } of HashMap.values(lightning.held)) yield* release(paymentHash, "fail")
          yield* TestClock.setTime(refusal.untilMillis)
          assert.strictEqual(yield* ended(end(unpaid.id)), "failed")
          assert.strictEqual((yield* has(payer)).held, 0)
        })
    )
  }
})

describe("Withdrawals whose payment the node has lost", () => {
  /** A company whose payment of 2000 sats is held by the payee when the node loses its records. */
  const lost = Effect.fnUntraced(function* (world: ReturnType<typeof forgetful>, expirySeconds = 3600) {
    const payer = yield* companyWith(50_000)
    yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
    yield* step
    yield* TestClock.adjust("1 hour")
    const held = yield* outside({ sats: 2000, behaviour: "hold", expirySeconds })
    const row = yield* confirm(payer, held.destination)
    yield* steps(2)
    world.state.isRestored = true
    yield* world.logged(steps(10))
    return { payer, row, paymentHash: (yield* now(row)).paymentHash ?? undefined, before: yield* has(payer) }
  })

  it.effect(
    "lost withdrawals: one whose payee was paid is settled with its preimage, and with a fee within the one held",
    () => {
      const world = forgetful()
      return run({ ...world.world, logsErrors: true }, function* () {
        const { row, paymentHash } = yield* lost(world)
        yield* release(paymentHash, "settle")
        const payment = yield* world.original(paymentHash ?? null)
        if (payment._tag !== "settled") return assert.fail(payment._tag)
        const { preimage, fee: networkFee } = payment
        const { settle } = yield* LostWithdrawals
        const wrong = Preimage.make("0".repeat(64))
        assert.strictEqual(yield* ended(settle(row.id, { preimage: wrong, networkFee })), "Invalid preimage")
        const above = Msat.make(row.networkAllowance + 1n)
        assert.strictEqual(yield* ended(settle(row.id, { preimage, networkFee: above })), "Invalid fee_sats")
        assert.strictEqual(yield* standing(row), "pending")
        assert.strictEqual(yield* ended(settle(row.id, { preimage, networkFee })), "settled")
        assert.strictEqual(yield* ended(settle(row.id, { preimage, networkFee })), "settled")
        assert.strictEqual(yield* ended((yield* LostWithdrawals).release(row.id)), "WithdrawalNotLost")
        yield* world.logged(steps(5))
        const { preimage: kept, networkFee: booked } = yield* now(row)
        assert.deepStrictEqual([kept, booked], [preimage, networkFee])
      })
    }
  )

  it.effect(
    "lost withdrawals: one whose payee was not paid is released once the payee can no longer claim it",
    () => {
      const world = forgetful()
      return run({ ...world.world, logsErrors: true }, function* () {
        const expirySeconds = 7 * 86_400
        const { payer, row, paymentHash, before } = yield* lost(world, expirySeconds)
        const dispatchedAtMillis = (yield* now(row)).dispatchedAtMillis ?? 0
        const { release: end, settle } = yield* LostWithdrawals
        const refusal = yield* Effect.flip(end(row.id))
        if (refusal._tag !== "WithdrawalNotLost" || refusal.untilMillis === null)
          return assert.fail(refusal._tag)
        assert.isAtLeast(
          refusal.untilMillis,
          dispatchedAtMillis - 60_000 + expirySeconds * 1000 + 28 * 86_400_000
        )
        yield* TestClock.setTime(refusal.untilMillis - 1)
        assert.strictEqual(yield* ended(end(row.id)), "WithdrawalNotLost")
        assert.deepStrictEqual(yield* has(payer), before)
        yield* release(paymentHash, "fail")
        yield* TestClock.setTime(refusal.untilMillis)
        assert.strictEqual(yield* ended(end(row.id)), "failed")
        assert.deepStrictEqual(yield* has(payer), { posted: before.posted, held: 0 })
        assert.strictEqual(yield* ended(end(row.id)), "failed")
        yield* world.logged(steps(5))
        assert.deepStrictEqual([yield* standing(row), world.pays()], ["failed: node_error", 2])
        const evidence = { preimage: Preimage.make("0".repeat(64)), networkFee: Msat.zero }
        assert.strictEqual(yield* ended(settle(row.id, evidence)), "WithdrawalNotLost")
      })
    }
  )

  it.effect("lost withdrawals: one stays lost if its process dies while the node does not respond", () => {
    const world = forgetful()
    return run({ ...world.world, logsErrors: true, isPending: true }, function* () {
      const { row } = yield* lost(world)
      yield* TestClock.adjust("1 hour")
      const nowMillis = yield* Clock.currentTimeMillis
      const dead = {
        kind: Withdrawal.paymentKind,
        limit: 1,
        nowMillis,
        leaseMillis: 120_000,
        holder: yield* Id.make
      }
      const tasks = yield* Tasks
      yield* tasks.takeOver({ ...dead, kinds: [], aliveMillis: 1 })
      assert.lengthOf(yield* tasks.claim(dead), 1)
      yield* TestClock.adjust("1 second")
      world.state.isAway = true
      yield* working()
      yield* TestClock.adjust("20 seconds")
      const waits = Effect.map((yield* Backlog).withdrawal(row.id), ({ waits }) => [
        waits?.kind,
        waits?.nextMillis
      ])
      assert.deepStrictEqual(yield* waits, ["withdrawal_lost", nowMillis + 120_000])
    })
  })

  it.effect("lost withdrawals: no other withdrawal can be ended, whatever its age", () => {
    const world = forgetful()
    return run({ ...world.world, logsErrors: true }, function* () {
      const { row, paymentHash } = yield* lost(world)
      const { release: end, settle } = yield* LostWithdrawals
      const { payer, row: onChain } = yield* paying(50_000, { type: "chain_address" }, 10_000)
      const unsent = yield* confirm(payer, (yield* outside({ sats: 500 })).destination)
      yield* TestClock.adjust("90 days")
      const evidence = { preimage: Preimage.make("0".repeat(64)), networkFee: Msat.zero }
      const both = Effect.fnUntraced(function* ({ id }: Withdrawal.Withdrawal) {
        return [yield* ended(end(id)), yield* ended(settle(id, evidence))]
      })
      const refused = (tag: string) => [tag, tag]
      // Without the worker's mark, the node's missing record is not enough.
      const job = { kind: Withdrawal.paymentKind, lane: "", dueAtMillis: 0, attempts: 1 }
      const found = { withdrawal: yield* now(row), job, payment: { _tag: "notFound" } } as const
      const late = Number.MAX_SAFE_INTEGER
      for (const lane of ["", LostWithdrawal.lane])
        assert.strictEqual(
          Result.isSuccess(LostWithdrawal.unpaid({ ...found, job: { ...job, lane } }, late)),
          lane !== ""
        )
      assert.deepStrictEqual(yield* both(onChain), ["Invalid spent_by", "WithdrawalNotLost"])
      assert.deepStrictEqual(yield* both(unsent), refused("WithdrawalNotLost"))
      assert.deepStrictEqual(yield* both({ ...row, id: payer.id }), refused("NotFound"))
      world.state.isAway = true
      assert.deepStrictEqual(yield* both(row), refused("NodeUnavailable"))
      world.state.isAway = false
      // The original node is back, and reports the payment as pending.
      world.state.isRestored = false
      assert.deepStrictEqual(yield* both(row), refused("WithdrawalNotLost"))
      yield* world.logged(steps(5))
      assert.deepStrictEqual(yield* both(row), refused("WithdrawalNotLost"))
      yield* release(paymentHash, "settle")
      yield* world.logged(steps(5))
      assert.strictEqual(yield* standing(row), "settled")
      yield* mine(10)
      yield* world.logged(steps(60))
    })
  })
})
