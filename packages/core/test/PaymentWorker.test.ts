import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Context, Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { listening, pause, release, resume, sending } from "./Payments.ts"
import { settings } from "./Rows.ts"
import {
  accounts,
  company,
  companyWith,
  confirm,
  got,
  has,
  invoice,
  now,
  outside,
  paying,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps,
  working
} from "./World.ts"

/**
 * Starts another process, which can be killed during its call to the node, either before the node has received the
 * payment or after.
 */
const mortal = Effect.fnUntraced(function* (when: "before" | "after") {
  const ports = yield* Effect.context<Ports>()
  const gate = yield* Deferred.make<void>()
  let isDead = false
  const process = yield* start(
    ports.pipe(
      replace(Tasks, (tasks) => ({
        takeOver: (ask) =>
          isDead
            ? Effect.fail(new StoreUnavailable({ operation: "any", cause: "dead" }))
            : tasks.takeOver(ask)
      })),
      replace(LightningSender, (sender) => ({
        pay: (ask) =>
          when === "after"
            ? Effect.tap(sender.pay(ask), () => Deferred.await(gate))
            : Effect.andThen(Deferred.await(gate), sender.pay(ask))
      }))
    )
  )
  yield* working(process)
  const wake = Deferred.succeed(gate, undefined)
  yield* Effect.addFinalizer(() => wake)
  return {
    kill: Effect.sync(() => {
      isDead = true
    }),
    wake
  }
})

describe("A payment", () => {
  scenario(
    "payment worker: a settled payment pays the payee, charges the amount and the fee to the company, and leaves the unused part of the fee to the operator",
    function* () {
      const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000 })
      yield* step
      const settled = yield* now(row)
      assert.deepStrictEqual(
        [settled.status, settled.failure, settled.paymentHash],
        ["settled", null, paymentHash]
      )
      assert.deepStrictEqual(yield* has(payer), { posted: 5000 - 1012, held: 0 })
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      const route = Number(settled.networkFee) / 1000
      assert.isTrue(route > 0 && route <= 10)
      assert.deepStrictEqual(yield* accounts, {
        available: 3988,
        node: -5000 + 1000 + route,
        service_fees: 2,
        network_fees: 10 - route
      })
      assert.strictEqual(yield* step, 0)
    }
  )

  scenario(
    "C9 C22: payment worker: the payment hash is stored before the node is called",
    () => ({ ...listening() }),
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      calls.length = 0
      yield* step
      assert.deepStrictEqual(calls, ["WithdrawalDispatched", "pay", "WithdrawalSettled"])
    }
  )

  scenario(
    "C21: payment worker: the funds of a failed payment are released in full, and only once",
    function* () {
      const payer = yield* companyWith(5000)
      for (const [behaviour, payee, failure] of [
        ["fail", "birch", "incorrect_payment_details"],
        ["settle", "fern", "no_route"]
      ] as const) {
        const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour, payee })
        const row = yield* confirm(payer, destination)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        yield* steps(4)
        assert.strictEqual(yield* standing(row), `failed: ${failure}`)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
        assert.strictEqual((yield* got(paymentHash)).times, 0)
      }
      assert.deepStrictEqual(yield* accounts, { available: 5000, node: -5000 })
    }
  )

  for (const outcome of ["settle", "fail"] as const) {
    scenario(
      `C1: payment worker: a held payment stays pending for days and then ${outcome}s, with no release before the node's final result`,
      function* () {
        const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "hold" })
        for (let hour = 0; hour < 72; hour++) {
          yield* step
          yield* TestClock.adjust("1 hour")
          assert.strictEqual(yield* standing(row), "pending")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        }
        yield* release(paymentHash, outcome)
        yield* steps(3)
        assert.strictEqual(
          yield* standing(row),
          outcome === "settle" ? "settled" : "failed: incorrect_payment_details"
        )
        assert.deepStrictEqual(yield* has(payer), { posted: outcome === "settle" ? 3988 : 5000, held: 0 })
        assert.strictEqual((yield* got(paymentHash)).times, outcome === "settle" ? 1 : 0)
      }
    )

    scenario(
      `C2 C6 C7: payment worker: a payment whose call gets no response is pending, not failed; later it ${outcome}s, without an early release or a second payment`,
      function* () {
        const { payer, row, paymentHash } = yield* paying(5000, {
          sats: 1000,
          behaviour: `unknown_then_${outcome}`
        })
        for (let i = 0; i < 3; i++) {
          // the call and two lookups get no response
          yield* step
          assert.strictEqual(yield* standing(row), "pending")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
          yield* TestClock.adjust("20 seconds")
        }
        yield* steps(3)
        assert.strictEqual(yield* standing(row), outcome === "settle" ? "settled" : "failed: timeout")
        assert.deepStrictEqual(yield* has(payer), { posted: outcome === "settle" ? 3988 : 5000, held: 0 })
        assert.strictEqual((yield* got(paymentHash)).times, outcome === "settle" ? 1 : 0)
      }
    )
  }

  scenario(
    "C6: payment worker: a payment that was sent is not marked failed when lookups fail for a day",
    function* () {
      const { payer, row, paymentHash } = yield* paying(5000, {
        sats: 1000,
        behaviour: "unknown_then_settle"
      })
      yield* step
      yield* pause("node")
      yield* steps(24, 3600)
      assert.strictEqual(yield* standing(row), "pending")
      assert.strictEqual((yield* has(payer)).held, 1012)
      yield* resume("node")
      yield* steps(4)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
    }
  )

  scenario(
    "C4: payment worker: the worker waits while the node is down, and sends the payment once when the node recovers",
    function* () {
      const payer = yield* companyWith(5000)
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      yield* pause("node")
      const row = yield* confirm(payer, destination)
      yield* steps(20)
      assert.strictEqual(yield* standing(row), "pending")
      yield* resume("node")
      yield* steps(4)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
    }
  )

  it.effect(
    "C10: payment worker: a payment sent by a killed process is looked up within 10 s of a restart, and paid once",
    () =>
      run({ logsErrors: true }, function* () {
        const payer = yield* companyWith(5000)
        const { destination, paymentHash } = yield* outside({ sats: 1000 })
        const { kill, wake } = yield* mortal("after")
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("1 second")
        yield* kill
        assert.strictEqual(yield* standing(row), "pending")
        yield* working()
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* standing(row), "settled")
        yield* wake
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
        assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      })
  )

  for (const [when, unanswered] of [
    ["", 0],
    ["after a lookup without a response, ", 1]
  ] as const) {
    it.effect(
      `C2 C10: payment worker: ${when}another process sends within 15 s what a process that is thought to be dead may not have sent; a later call by that process pays nothing more`,
      () => {
        let silent = 0
        const flaky = sending(({ lookupPayment }) => ({
          lookupPayment: (hash) =>
            silent-- > 0 ? Effect.succeed({ _tag: "unknown" } as const) : lookupPayment(hash)
        }))
        return run({ change: flaky, logsErrors: true }, function* () {
          const payer = yield* companyWith(5000)
          const { destination, paymentHash } = yield* outside({ sats: 1000 })
          const { kill, wake } = yield* mortal("before")
          const row = yield* confirm(payer, destination)
          yield* TestClock.adjust("1 second")
          yield* kill
          silent = unanswered
          yield* working()
          yield* TestClock.adjust("15 seconds")
          assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
          yield* wake
          yield* TestClock.adjust("5 minutes")
          assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
          assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
        })
      }
    )
  }

  it.effect(
    "C2 C10: payment worker: a failure of its own call does not end a payment that a slow process may still send",
    () => {
      let isFailing = true
      const failing = sending(({ pay, lookupPayment }) => ({
        pay: (ask) =>
          isFailing ? Effect.succeed({ _tag: "failed", reason: "no_route" } as const) : pay(ask),
        lookupPayment: (hash) =>
          Effect.map(lookupPayment(hash), (found) =>
            found._tag === "notFound" && isFailing ? { _tag: "failed", reason: "no_route" } : found
          )
      }))
      return run({ logsErrors: true }, function* () {
        const payer = yield* companyWith(5000)
        const { destination, paymentHash } = yield* outside({ sats: 1000 })
        const { kill, wake } = yield* mortal("before")
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("1 second")
        yield* kill
        yield* working(yield* start(failing(yield* Effect.context<Ports>())))
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["pending", 0])
        isFailing = false
        yield* wake
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
        assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      })
    }
  )

  it.effect(
    "payment worker: a payment that failed while its process was dead fails when that process's claim would have ended",
    () =>
      run({ logsErrors: true }, function* () {
        const payer = yield* companyWith(5000)
        const { destination } = yield* outside({ sats: 1000, behaviour: "fail" })
        const { graceMillis } = yield* LightningSender
        const { kill } = yield* mortal("after")
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("1 second")
        yield* kill
        yield* working()
        yield* TestClock.adjust(Math.max(30_000, 2 * graceMillis) - 5000)
        assert.strictEqual(yield* standing(row), "pending")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* standing(row), "failed: incorrect_payment_details")
      })
  )

  for (const [title, unanswered] of [
    ["an earlier failure of the same invoice", 0],
    ["a lookup without a response, followed by an earlier failure of the same invoice,", 1]
  ] as const) {
    it.effect(
      `C2 C10: payment worker: ${title} does not end a payment that a slow process may still send`,
      () => {
        let lookups = 0
        // The node reports the payment of an earlier withdrawal until it is called again.
        const earlier = sending(({ lookupPayment }) => ({
          lookupPayment: (hash) =>
            lookups++ < unanswered
              ? Effect.succeed({ _tag: "unknown" } as const)
              : Effect.map(lookupPayment(hash), (found) =>
                  found._tag === "notFound" ? { _tag: "failed", reason: "no_route" } : found
                )
        }))
        return run({ change: earlier, logsErrors: true }, function* () {
          const payer = yield* companyWith(5000)
          const { destination, paymentHash } = yield* outside({ sats: 1000 })
          const { kill, wake } = yield* mortal("before")
          const row = yield* confirm(payer, destination)
          yield* TestClock.adjust("1 second")
          yield* kill
          yield* working()
          yield* TestClock.adjust("15 seconds")
          assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["pending", 0])
          yield* wake
          yield* TestClock.adjust("5 minutes")
          assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
          assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
        })
      }
    )
  }

  it.effect(
    "payment worker: a retry whose process was killed before the node received it fails as the earlier payment did, once no call can arrive",
    () => {
      // As LDK does, the node identifies a payment by its hash, so it reports the earlier payment's failure.
      const graceMillis = 60_000
      const failed = Effect.succeed({ _tag: "failed", reason: "no_route" } as const)
      const ldk = sending(() => ({ lookupPayment: () => failed, graceMillis }))
      return run({ change: ldk, logsErrors: true }, function* () {
        const payer = yield* companyWith(5000)
        const { destination, paymentHash } = yield* outside({ sats: 1000 })
        const { kill } = yield* mortal("before")
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("1 second")
        yield* kill
        yield* working()
        yield* TestClock.adjust(2 * graceMillis - 5000)
        assert.strictEqual(yield* standing(row), "pending")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* standing(row), "failed: no_route")
        assert.strictEqual((yield* got(paymentHash)).times, 0)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      })
    }
  )

  scenario(
    "payment worker: a payment that settles although its call got no response is settled within 15 s, not after the grace period",
    { change: sending(() => ({ graceMillis: 60_000 })) },
    function* () {
      const { row, paymentHash } = yield* paying(5000, { sats: 1000, behaviour: "unknown_then_settle" })
      yield* working()
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual([yield* standing(row), (yield* got(paymentHash)).times], ["settled", 1])
    }
  )

  for (const [title, strikes] of [
    ["before a payment is dispatched", "WithdrawalDispatched"],
    [
      "between a payment's dispatch, which is stored without a response, and its call",
      "after WithdrawalDispatched"
    ],
    ["after a payment is sent", "WithdrawalSettled"],
    ["while tasks are claimed", "claim"]
  ] as const) {
    it.effect(
      `payment worker: after a store outage of 20 s that begins ${title}, every process resumes its payments within 15 s`,
      () => {
        let backAtMillis = 0
        let isStruck = false
        const failure = new StoreUnavailable({ operation: "any", cause: "away" })
        const strike = Effect.map(Clock.currentTimeMillis, (atMillis) => {
          isStruck = true
          backAtMillis = atMillis + 20_000
        })
        const isAway = Effect.map(Clock.currentTimeMillis, (atMillis) => atMillis < backAtMillis)
        const through = <A, E>(begins: boolean, isLate: boolean, call: Effect.Effect<A, E>) =>
          Effect.gen(function* () {
            if (yield* isAway) return yield* failure
            if (isStruck || !begins) return yield* call
            if (isLate) yield* call
            yield* strike
            return yield* failure
          })
        const claimed = <A extends ReadonlyArray<unknown>, E>(call: Effect.Effect<A, E>) =>
          Effect.gen(function* () {
            if (yield* isAway) return yield* failure
            const found = yield* call
            if (strikes !== "claim" || found.length === 0 || isStruck) return found
            yield* strike
            return yield* failure
          })
        const change = (ports: Context.Context<Ports>) =>
          ports.pipe(
            // A claim thus lasts 120 s.
            sending(() => ({ graceMillis: 60_000 })),
            replace(Journal, (journal) => ({
              commit: (change) =>
                through(strikes.endsWith(change._tag), strikes.startsWith("after"), journal.commit(change))
            })),
            replace(Tasks, (tasks) => ({
              claim: (ask) => claimed(tasks.claim(ask)),
              claimInTurn: (ask) => claimed(tasks.claimInTurn(ask)),
              takeOver: (ask) => through(false, false, tasks.takeOver(ask)),
              postpone: (...all) => through(false, false, tasks.postpone(...all)),
              dueAt: (kinds) => through(false, false, tasks.dueAt(kinds))
            }))
          )
        return run({ logsErrors: true, change }, function* () {
          const payer = yield* companyWith(50_000)
          const rows = yield* Effect.forEach(Array.from({ length: 12 }), () =>
            Effect.flatMap(outside({ sats: 1000 }), ({ destination }) => confirm(payer, destination))
          )
          yield* working()
          // Another process would take over the claims that got no response.
          if (strikes !== "claim") yield* working(yield* start(yield* Effect.context<Ports>()))
          yield* TestClock.adjust("20 seconds")
          assert.isTrue(isStruck)
          const leftMillis = Math.max(0, backAtMillis - (yield* Clock.currentTimeMillis))
          yield* TestClock.adjust(leftMillis + 15_000)
          for (const row of rows) assert.strictEqual(yield* standing(row), "settled")
          assert.deepStrictEqual(yield* has(payer), { posted: 50_000 - 12 * 1012, held: 0 })
        })
      }
    )
  }

  scenario(
    "payment worker: if an invoice expires while no node can pay it, the withdrawal fails without being sent",
    listening,
    function* ({ calls }) {
      const { payer, row } = yield* paying(5000, { sats: 1000, expirySeconds: 90 })
      yield* TestClock.adjust("81 seconds")
      yield* step
      assert.strictEqual(yield* standing(row), "failed: invoice_expired")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.notInclude(calls, "pay")
    }
  )

  scenario(
    "payment worker: a withdrawal fails as not payable, not as expired, if its invoice could hold the funds longer than the policy now allows",
    function* () {
      const strict = yield* start(yield* Effect.context<Ports>(), { ...settings, maxFinalCltvExpiry: 1 })
      const { payer, row } = yield* paying(5000, { sats: 1000 })
      yield* Context.get(strict, PaymentWorker).step
      assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    }
  )

  scenario(
    "C11 C14: payment worker: of two withdrawals to one invoice, one is paid and the other fails; the failure reason refers to the paid withdrawal only if both belong to the same company",
    function* () {
      const [one, other] = [yield* companyWith(5000), yield* companyWith(5000)]
      for (const [second, failure] of [
        [other, "invoice_not_payable"],
        [one, "payment_hash_used"]
      ] as const) {
        const { destination, paymentHash } = yield* outside({ sats: 1000 })
        const rows = [yield* confirm(one, destination), yield* confirm(second, destination)]
        yield* steps(3)
        assert.deepStrictEqual((yield* Effect.forEach(rows, standing)).toSorted(), [
          `failed: ${failure}`,
          "settled"
        ])
        assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      }
    }
  )

  for (const [whose, isOwn, failure] of [
    ["an outside payee", false, "payment_hash_used"],
    ["another company", true, "invoice_not_payable"]
  ] as const) {
    scenario(
      `C11 C15: payment worker: of eight concurrent requests without idempotency keys to pay one invoice of ${whose}, one pays and seven fail with ${failure}`,
      function* () {
        const [payer, payee] = [yield* companyWith(9000), yield* company()]
        const destination = isOwn
          ? (yield* invoice(payee, 1000)).paymentRequest
          : (yield* outside({ sats: 1000 })).destination
        const rows = yield* Effect.forEach(Array.from({ length: 8 }), () => confirm(payer, destination), {
          concurrency: "unbounded"
        })
        yield* steps(3)
        const ends = yield* Effect.forEach(rows, standing)
        assert.deepStrictEqual(ends.toSorted(), [
          ...Array.from({ length: 7 }, () => `failed: ${failure}`),
          "settled"
        ])
        assert.deepStrictEqual(yield* has(payer), { posted: isOwn ? 8000 : 7988, held: 0 })
      }
    )
  }

  scenario(
    "C25: payment worker: a cost above the fee limit is the operator's loss, not the company's",
    {
      logsErrors: true,
      isPending: true,
      change: sending((sender) => ({
        pay: (ask) =>
          Effect.map(sender.pay(ask), (payment) =>
            payment._tag === "settled" ? { ...payment, fee: Msat.fromSats(13) } : payment
          )
      }))
    },
    function* () {
      const { payer, row } = yield* paying(5000, { sats: 1000 })
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      assert.deepStrictEqual(yield* accounts, {
        available: 3988,
        node: -5000 + 1000 + 13,
        service_fees: 2,
        loss: -3
      })
    }
  )

  it.effect("C25: payment worker: the node's fee limit is the fee that is held", () => {
    const limits: Array<Msat.Msat> = []
    return run(
      {
        change: sending((sender) => ({
          pay: (ask) => {
            limits.push(ask.feeLimit)
            return sender.pay(ask)
          }
        }))
      },
      function* () {
        const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* step
        assert.deepStrictEqual(limits, [row.networkAllowance])
      }
    )
  })

  scenario(
    "payment worker: an invalid preimage neither settles nor fails a withdrawal",
    {
      logsErrors: true,
      isPending: true,
      change: sending((sender) => {
        const forge = <P extends { readonly _tag: string }>(payment: P): P =>
          payment._tag === "settled" ? { ...payment, preimage: Preimage.make("00".repeat(32)) } : payment
        return {
          pay: (ask) => Effect.map(sender.pay(ask), forge),
          lookupPayment: (hash) => Effect.map(sender.lookupPayment(hash), forge)
        }
      })
    },
    function* () {
      const { payer, row } = yield* paying(5000, { sats: 1000 })
      yield* steps(5)
      assert.strictEqual(yield* standing(row), "pending")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
    }
  )
})
