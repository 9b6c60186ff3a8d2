import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Clock, Context, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Changes from "../src/service/Changes.ts"
import { Companies } from "../src/accounts/Companies.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { Hooks, type MaySend } from "../src/sending/WithdrawalHooks.ts"
import { listening, sending } from "./Payments.ts"
import { settings } from "./Rows.ts"
import {
  companyWith,
  confirm,
  everywhere,
  got,
  has,
  outside,
  paying,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps
} from "./World.ts"

describe("Several workers", () => {
  scenario(
    "C12 C19: payment worker: several workers on one store send every withdrawal once",
    listening,
    function* ({ calls }) {
      const ports = yield* Effect.context<Ports>()
      const workers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(start(ports), (process) => Context.get(process, PaymentWorker))
      )
      const payers = yield* Effect.forEach([1, 2, 3, 4], () => companyWith(50_000))
      const behaviours = ["settle", "fail", "unknown_then_settle", "unknown_then_fail"] as const
      const rows = yield* Effect.forEach(
        Array.from({ length: 60 }),
        Effect.fnUntraced(function* (_, at) {
          const payer = payers[at % 4] ?? (yield* Effect.die("four payers"))
          const { destination, paymentHash } = yield* outside({
            sats: 100 + at,
            behaviour: behaviours[at % 4] ?? "settle"
          })
          return { row: yield* confirm(payer, destination), paymentHash, settles: at % 2 === 0 }
        })
      )
      for (let i = 0; i < 12; i++) {
        yield* Effect.all(
          workers.map(({ step }) => step),
          { concurrency: "unbounded" }
        )
        yield* TestClock.adjust("10 seconds")
      }
      for (const { row, paymentHash, settles } of rows) {
        assert.match(yield* standing(row), settles ? /^settled$/ : /^failed/)
        assert.strictEqual((yield* got(paymentHash)).times, settles ? 1 : 0)
      }
      assert.strictEqual(calls.filter((call) => call === "pay").length, 60)
    }
  )
})

describe("Calls to the node", () => {
  it.effect(
    "C10: payment worker: a worker that slept past its claim makes no call if another worker took the job in the meantime and the withdrawal failed",
    () => {
      const pays: Array<string> = []
      const counting = (who: string) =>
        sending((sender) => ({
          pay: (ask) => {
            pays.push(who)
            return sender.pay(ask)
          }
        }))
      return run({}, function* () {
        const ports = yield* Effect.context<Ports>()
        const wakes = yield* Deferred.make<void>()
        const sleepy = yield* start(
          ports.pipe(
            counting("sleepy"),
            replace(Journal, (journal) => ({
              commit: (change) =>
                change._tag === "WithdrawalDispatched"
                  ? Effect.tap(journal.commit(change), () => Deferred.await(wakes))
                  : journal.commit(change)
            }))
          )
        )
        const other = yield* start(counting("other")(ports))
        const { payer, row } = yield* paying(5000, { sats: 1000, behaviour: "fail" })
        const sleeping = yield* Effect.forkChild(Context.get(sleepy, PaymentWorker).step)
        yield* TestClock.adjust("121 seconds")
        yield* Context.get(other, PaymentWorker).step
        assert.strictEqual(yield* standing(row), "failed: incorrect_payment_details")
        yield* Deferred.succeed(wakes, undefined)
        yield* Fiber.join(sleeping)
        assert.deepStrictEqual(pays, ["other"])
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      })
    }
  )

  it.effect(
    "payment worker: a worker that slept and has a different invoice does not change a withdrawal that another worker has sent",
    () => {
      return run({}, function* () {
        const ports = yield* Effect.context<Ports>()
        const wakes = yield* Deferred.make<void>()
        const sleepy = yield* start(
          replace(Journal, (journal) => ({
            commit: (change) =>
              change._tag === "WithdrawalDispatched"
                ? Effect.andThen(Deferred.await(wakes), journal.commit(change))
                : journal.commit(change)
          }))(ports)
        )
        const payer = yield* companyWith(50_000)
        // Each worker requests its own invoice and selects its own coins.
        const rows = [
          yield* confirm(payer, (yield* outside({ type: "lightning_address" })).destination, 1000),
          yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 10_000)
        ]
        const sleeping = yield* Effect.forkChild(Context.get(sleepy, PaymentWorker).step)
        yield* TestClock.adjust("121 seconds")
        yield* step
        yield* Deferred.succeed(wakes, undefined)
        yield* Fiber.join(sleeping)
        yield* (yield* Sandbox).mine(1)
        yield* steps(3)
        for (const row of rows) assert.strictEqual(yield* standing(row), "settled")
      })
    }
  )

  /**
   * A node at which no call arrives, although a call may arrive up to 60 seconds late. Records the time of each
   * call.
   */
  const deaf = (callSeconds: number) => {
    const atSeconds: Array<number> = []
    const change = sending(() => ({
      graceMillis: 60_000,
      pay: () =>
        Effect.gen(function* () {
          const nowMillis = yield* Clock.currentTimeMillis
          atSeconds.push(nowMillis / 1000 - 1_700_000_000)
          yield* Effect.sleep(callSeconds * 1000)
          return { _tag: "unknown" } as const
        })
    }))
    return { atSeconds, change }
  }

  it.effect(
    "C2: payment worker: a call whose response cannot be read counts as a call without a response, because it may have reached the node",
    () => {
      const { atSeconds, change } = deaf(0)
      return run(
        {
          logsErrors: true,
          change: (ports) =>
            sending((sender) => ({ pay: (ask) => Effect.andThen(sender.pay(ask), Effect.die("not JSON")) }))(
              change(ports)
            )
        },
        function* () {
          const { row } = yield* paying(5000, { sats: 1000 })
          yield* steps(9)
          assert.strictEqual(yield* standing(row), "pending")
          assert.deepStrictEqual(atSeconds, [0, 60, 120])
        }
      )
    }
  )

  for (const callSeconds of [0, 30]) {
    scenario(
      `C8: payment worker: a call that gets no response in ${callSeconds} seconds is not repeated while it may still arrive, even if the payment is not found`,
      () => ({ ...deaf(callSeconds) }),
      function* ({ atSeconds }) {
        const { payer, row } = yield* paying(5000, { sats: 1000 })
        const { step } = yield* PaymentWorker
        const stepping = yield* Effect.forkChild(
          Effect.forever(Effect.andThen(step, Effect.sleep("1 second")))
        )
        yield* TestClock.adjust("10 minutes")
        // A call that is in progress is not interrupted.
        yield* Effect.forkChild(Fiber.interrupt(stepping), { startImmediately: true })
        yield* TestClock.adjust(callSeconds * 1000)
        assert.isTrue(atSeconds.length >= 4, "the payment is tried again")
        for (const [at, seconds] of atSeconds.entries()) {
          if (at > 0)
            assert.isTrue(
              seconds - (atSeconds[at - 1] ?? 0) >= callSeconds + 60,
              `called after ${atSeconds.join(", ")} seconds`
            )
        }
        assert.strictEqual(yield* standing(row), "pending")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      }
    )
  }

  scenario(
    "C8: payment worker: if a worker dies during a call, the next worker does not repeat the call while it may still arrive",
    () => ({ ...deaf(0) }),
    function* ({ atSeconds }) {
      const ports = yield* Effect.context<Ports>()
      const payer = yield* companyWith(5000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      // Each worker dies during its call.
      for (let i = 0; i < 4; i++) {
        const dying = yield* start(
          sending((sender) => ({ pay: (ask) => Effect.andThen(sender.pay(ask), Effect.never) }))(ports)
        )
        yield* Effect.forkDetach(
          Effect.forever(Effect.andThen(Context.get(dying, PaymentWorker).step, Effect.sleep("1 second")))
        )
        yield* TestClock.adjust("119 seconds")
      }
      assert.isTrue(atSeconds.length >= 3, "the payment is tried again")
      for (const [at, seconds] of atSeconds.entries())
        if (at > 0)
          assert.isTrue(
            seconds - (atSeconds[at - 1] ?? 0) >= 60,
            `called after ${atSeconds.join(", ")} seconds`
          )
    }
  )

  for (const [seconds, calls] of [
    [59, 1],
    [61, 0]
  ] as const) {
    it.effect(
      `C10: payment worker: a worker that slept for ${seconds} seconds of its 120-second claim calls the node ${calls} times, even if no other worker has claimed the job`,
      () => {
        const { atSeconds, change } = deaf(0)
        const sleeping = replace(Journal, (journal) => ({
          commit: (next) =>
            next._tag === "WithdrawalDispatched"
              ? Effect.tap(journal.commit(next), () => Effect.sleep(seconds * 1000))
              : journal.commit(next)
        }))
        return run({ change: (ports) => sleeping(change(ports)) }, function* () {
          const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
          const stepping = yield* Effect.forkChild(step)
          yield* TestClock.adjust(seconds * 1000)
          yield* Fiber.join(stepping)
          assert.strictEqual(atSeconds.length, calls)
          assert.strictEqual(yield* standing(row), "pending")
        })
      }
    )
  }

  it.effect(
    "C10: payment worker: a claim lasts twice as long as a call may take, and no other process checks the payment before the claim ends",
    () => {
      const lookedAtSeconds: Array<number> = []
      const slow = sending((sender) => ({
        graceMillis: 60_000,
        pay: () => Effect.never,
        lookupPayment: (hash) =>
          Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
            lookedAtSeconds.push(nowMillis / 1000 - 1_700_000_000)
            return sender.lookupPayment(hash)
          })
      }))
      return run({ change: slow }, function* () {
        const other = Context.get(yield* start(yield* Effect.context<Ports>()), PaymentWorker)
        yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* Effect.forkDetach(step)
        yield* TestClock.adjust("1 second")
        yield* Effect.forkDetach(Effect.forever(Effect.andThen(other.step, Effect.sleep("1 second"))))
        yield* TestClock.adjust("118 seconds")
        assert.deepStrictEqual(lookedAtSeconds, [])
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(lookedAtSeconds.length, 1)
      })
    }
  )

  it.effect(
    "C8: payment worker: a payment that is first reported as pending and then not found is not sent again before the grace period ends",
    () => {
      const atSeconds: Array<number> = []
      const forgetful = sending(() => ({
        graceMillis: 60_000,
        pay: () =>
          Effect.map(Clock.currentTimeMillis, (nowMillis) => {
            atSeconds.push(nowMillis / 1000 - 1_700_000_000)
            return { _tag: "pending" } as const
          }),
        lookupPayment: () => Effect.succeed({ _tag: "notFound" } as const)
      }))
      return run({ change: forgetful }, function* () {
        const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* steps(59, 1)
        assert.deepStrictEqual(atSeconds, [0])
        yield* steps(3, 1)
        assert.strictEqual(atSeconds[1], 60)
        assert.strictEqual(yield* standing(row), "pending")
      })
    }
  )

  it.effect(
    "C8: payment worker: a sent payment that may no longer be sent does not fail before its invoice expires, since a call may arrive late",
    () => {
      let answer: MaySend = "now"
      const lost = sending(() => ({
        graceMillis: 60_000,
        pay: () => Effect.succeed({ _tag: "pending" }),
        lookupPayment: () => Effect.succeed({ _tag: "notFound" })
      }))
      const hook = Context.add(Hooks, [
        { mayBegin: () => Effect.undefined, maySend: () => Effect.sync(() => answer) }
      ])
      return run({ change: (ports) => hook(lost(ports)) }, function* () {
        const payer = yield* companyWith(5000)
        const row = yield* confirm(payer, (yield* outside({ sats: 1000, expirySeconds: 1800 })).destination)
        yield* steps(1, 1)
        answer = "never"
        // The invoice expires after 30 minutes, and the node's clock may be 10 minutes behind.
        yield* steps(39, 60)
        assert.strictEqual(yield* standing(row), "pending")
        yield* steps(3, 60)
        assert.strictEqual(yield* standing(row), "failed: canceled")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      })
    }
  )

  it.effect(
    "C8: payment worker: a call that follows an unsent call is not repeated before the grace period ends",
    () => {
      const atSeconds: Array<number> = []
      const forgetful = sending(() => ({
        graceMillis: 60_000,
        pay: () =>
          Effect.map(Clock.currentTimeMillis, (nowMillis) => {
            atSeconds.push(nowMillis / 1000 - 1_700_000_000)
            return atSeconds.length === 1 ? ({ _tag: "notSent" } as const) : ({ _tag: "pending" } as const)
          }),
        lookupPayment: () => Effect.succeed({ _tag: "notFound" } as const)
      }))
      return run({ change: forgetful }, function* () {
        yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* steps(59, 1)
        assert.lengthOf(atSeconds, 2, `called after ${atSeconds.join(", ")} seconds`)
        yield* steps(3, 1)
        assert.strictEqual(atSeconds[2], 60)
      })
    }
  )

  it.effect(
    "C11: payment worker: a worker does not change a withdrawal that another worker is already paying with a different invoice",
    () => {
      const { calls, change } = listening()
      // Another invoice is recorded first under the same claim, as if the response to that commit had been
      // lost.
      const decided = replace(Journal, (journal) =>
        Changes.journal((next) =>
          next._tag === "WithdrawalDispatched"
            ? Effect.andThen(
                journal.commit({
                  ...next,
                  attempt: { ...next.attempt, paymentHash: PaymentHash.make("77".repeat(32)) }
                }),
                journal.commit(next)
              )
            : journal.commit(next)
        )
      )
      return run({ change: (ports) => decided(change(ports)) }, function* () {
        const { payer, row } = yield* paying(5000, { type: "lightning_address" }, 1000)
        yield* step
        assert.strictEqual(yield* standing(row), "pending")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        assert.notInclude(calls, "pay")
      })
    }
  )

  /**
   * A node with a grace period of 60 seconds that refuses every connection until `isThere` is true. Records the
   * time of each call.
   */
  const refusing = () => {
    const state = { isThere: false, atSeconds: new Array<number>() }
    const change = sending((sender) => ({
      graceMillis: 60_000,
      pay: (ask) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
          state.atSeconds.push(nowMillis / 1000 - 1_700_000_000)
          return state.isThere ? sender.pay(ask) : Effect.succeed({ _tag: "notSent" } as const)
        }),
      lookupPayment: (hash) =>
        state.isThere ? sender.lookupPayment(hash) : Effect.succeed({ _tag: "unknown" } as const)
    }))
    return { state, change }
  }

  scenario(
    "C4: payment worker: a payment not sent because the node refused the connection is sent when the node recovers, without waiting for the grace period",
    refusing,
    function* ({ state }) {
      const { row, paymentHash } = yield* paying(5000, { sats: 1000 })
      yield* steps(3, 1)
      assert.strictEqual(yield* standing(row), "pending")
      state.isThere = true
      yield* steps(2, settings.trackMillis.maximum / 1000)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.isBelow(state.atSeconds.at(-1) ?? 0, 60)
    }
  )

  scenario(
    "C8: payment worker: once another process has claimed the job, an unsent call no longer proves that the payment was not sent",
    refusing,
    function* ({ state }) {
      const ports = yield* Effect.context<Ports>()
      const { row } = yield* paying(5000, { sats: 1000 })
      yield* step
      assert.deepStrictEqual(state.atSeconds, [0])
      // Another process claims the job, finds no such payment at the node, and postpones the job until the grace
      // period ends.
      state.isThere = true
      const other = Context.get(yield* start(ports), PaymentWorker)
      yield* TestClock.adjust("1 second")
      yield* other.step
      // The first process claims the job again, as if the other one had called the node and died.
      const tasks = yield* Tasks
      const nowMillis = yield* Clock.currentTimeMillis
      yield* tasks.postpone(
        { kind: "withdrawal", id: row.id, companyId: row.companyId, lane: "", token: 2, attempts: 2 },
        nowMillis
      )
      yield* step
      assert.deepStrictEqual(state.atSeconds, [0])
      yield* TestClock.adjust("60 seconds")
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  scenario(
    "freeze: a payment that the node refused is not sent after its company is frozen, and is sent once it is unfrozen",
    refusing,
    function* ({ state }) {
      const { payer, row, paymentHash } = yield* paying(5000, { sats: 1000 })
      yield* step
      assert.deepStrictEqual(state.atSeconds, [0])
      const companies = yield* Companies
      yield* everywhere(companies.freeze(payer.id, { reason: "a drill", pending: "wait" }))
      state.isThere = true
      yield* steps(10, settings.trackMillis.maximum / 1000)
      assert.deepStrictEqual(state.atSeconds, [0])
      yield* everywhere(companies.unfreeze(payer.id))
      yield* steps(2, settings.trackMillis.maximum / 1000)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
    }
  )

  it.effect(
    "C8: payment worker: a store outage after a call whose outcome is unknown does not shorten the wait before the next call",
    () => {
      const state = { isAway: true, isStoreAway: false, atSeconds: new Array<number>() }
      const node = sending(() => ({
        graceMillis: 60_000,
        pay: () =>
          Effect.map(Clock.currentTimeMillis, (nowMillis) => {
            if (state.isAway) return { _tag: "notSent" } as const
            state.atSeconds.push(nowMillis / 1000 - 1_700_000_000)
            state.isStoreAway = state.atSeconds.length === 1
            return { _tag: "unknown" } as const
          }),
        lookupPayment: () => Effect.succeed({ _tag: "notFound" } as const)
      }))
      const store = replace(Tasks, (tasks) => ({
        postpone: (...given) =>
          Effect.suspend(() => {
            if (!state.isStoreAway) return tasks.postpone(...given)
            state.isStoreAway = false
            return Effect.fail(new StoreUnavailable({ operation: "postpone", cause: "a drill" }))
          })
      }))
      return run({ change: (ports) => store(node(ports)) }, function* () {
        yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* steps(10, 10)
        state.isAway = false
        yield* step
        const [called = 0] = state.atSeconds
        yield* steps(48, 1)
        assert.deepStrictEqual(state.atSeconds, [called])
        yield* steps(20, 1)
        assert.lengthOf(state.atSeconds, 2)
      })
    }
  )
})
