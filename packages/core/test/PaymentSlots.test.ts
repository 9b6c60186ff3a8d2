import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { type Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { Stops } from "../src/accounts/Stops.ts"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { settings } from "./Rows.ts"
import {
  companyWith,
  confirm,
  everywhere,
  got,
  now,
  outside,
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
 * Payees at `….slow.example` respond after `seconds` while `isSlow` is true. Records the maximum of concurrent
 * requests, in total and per host.
 */
const slowly = (seconds = 10) => {
  const state = { isSlow: false, asked: 0, most: 0, mostAtHost: 0 }
  const atHosts = new Map<string, number>()
  const change = replace(Resolver, (resolver) => ({
    offer: (url) => {
      const { host } = new URL(url)
      if (!host.endsWith("slow.example")) return resolver.offer(url)
      const answer = resolver.offer(url.replace(host, "wallet.example"))
      if (!state.isSlow) return answer
      const count = (one: number) =>
        Effect.sync(() => {
          state.asked += one
          state.most = Math.max(state.most, state.asked)
          const here = (atHosts.get(host) ?? 0) + one
          atHosts.set(host, here)
          state.mostAtHost = Math.max(state.mostAtHost, here)
        })
      return Effect.acquireUseRelease(
        count(1),
        () => Effect.andThen(Effect.sleep(seconds * 1000), answer),
        () => count(-1)
      )
    }
  }))
  return { state, change }
}

const times = <A, E, R>(count: number, effect: (at: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), (_, at) => effect(at))

/** Confirms `count` withdrawals to slow payees, each at the host that `hostOf` returns. */
const toSlow = (payer: Company, count: number, hostOf: (at: number) => string = () => "slow.example") =>
  times(count, (at) => confirm(payer, `settle@${hostOf(at)}`, 100))

const toFast = (payer: Company) => confirm(payer, "settle@wallet.example", 100)

const standings = (rows: ReadonlyArray<Withdrawal.Withdrawal>) =>
  Effect.map(Effect.forEach(rows, standing), (all) => [...new Set(all)])

describe("Slow payees", () => {
  scenario(
    "payment worker: a slow payee does not delay an ordinary payment by more than a second",
    slowly,
    function* ({ state }) {
      const payer = yield* companyWith(100_000)
      const slow = yield* toSlow(payer, 1)
      state.isSlow = true
      yield* working()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(state.asked, 1)
      const fast = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* standing(fast), "settled")
      assert.deepStrictEqual(yield* standings(slow), ["pending"])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* standings(slow), ["settled"])
    }
  )

  scenario(
    "pause: if a payee's server responds during a pause, the payment is sent when the pause ends",
    slowly,
    function* ({ state }) {
      const payer = yield* companyWith(100_000)
      const slow = yield* toSlow(payer, 1)
      state.isSlow = true
      yield* working()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(state.asked, 1)
      yield* everywhere(Effect.flatMap(Stops, ({ pause }) => pause("sending")))
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual([yield* standings(slow), state.asked], [["pending"], 0])
      yield* everywhere(Effect.flatMap(Stops, ({ resume }) => resume("sending")))
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* standings(slow), ["settled"])
    }
  )

  scenario(
    "payment worker: a payee that responds in the second half of the claim is paid at once, because the claim is renewed",
    () => slowly(20),
    function* ({ state }) {
      const payer = yield* companyWith(100_000)
      const slow = yield* toSlow(payer, 1)
      state.isSlow = true
      yield* working()
      yield* TestClock.adjust("19 seconds")
      assert.deepStrictEqual(yield* standings(slow), ["pending"])
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(yield* standings(slow), ["settled"])
    }
  )

  it.effect(
    "payment worker: a company with more slow payees than there are slots, each on its own host, gets only its share of slots, and other companies' payees are paid immediately",
    () => {
      const { state, change } = slowly(20)
      const { atOnce, perCompany } = settings.resolving
      return run({ change }, function* () {
        const [one, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
        const slow = yield* toSlow(one, atOnce + 20, (at) => `host${at}.slow.example`)
        state.isSlow = true
        yield* working()
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(state.asked, perCompany)
        const fast = yield* toFast(other)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* standing(fast), "settled")
        assert.deepStrictEqual(yield* standings(slow), ["pending"])
        yield* TestClock.adjust("4 minutes")
        assert.deepStrictEqual(yield* standings(slow), ["settled"])
        assert.strictEqual(state.most, perCompany)
      })
    }
  )

  scenario(
    "payment worker: the number of concurrent requests to one host is limited, and the company's payments to other hosts do not wait for that host",
    () => slowly(20),
    function* ({ state }) {
      const companies = yield* times(3, () => companyWith(100_000))
      const [one] = companies
      if (one === undefined) return assert.fail()
      const slow = (yield* Effect.forEach(companies, (payer) => toSlow(payer, 100))).flat()
      const fast = yield* toFast(one)
      state.isSlow = true
      yield* working()
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(state.asked, settings.resolving.perHost)
      assert.strictEqual(yield* standing(fast), "settled")
      state.isSlow = false
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* standings(slow), ["settled"])
      assert.strictEqual(state.mostAtHost, settings.resolving.perHost)
    }
  )

  it.effect(
    "payment worker: if the store fails while more payments to one host are claimed than that host has slots, the payments wait only until the store recovers",
    () => {
      const { perHost } = settings.resolving
      const { state, change: slow } = slowly(20)
      let refused = 0
      const change = (ports: Context.Context<Ports>) =>
        replace(Tasks, (tasks) => ({
          postpone: (...all) =>
            all[0].kind === Withdrawal.recipientKind && refused++ < 1
              ? Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
              : tasks.postpone(...all)
        }))(slow(ports))
      return run({ change }, function* () {
        const companies = yield* times(perHost + 2, () => companyWith(100_000))
        const rows = (yield* Effect.forEach(companies, (payer) => toSlow(payer, 1))).flat()
        state.isSlow = true
        yield* working()
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([state.asked, refused], [perHost, 2])
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(yield* standings(rows), ["settled"])
      })
    }
  )

  scenario(
    "confirm: a company whose payees do not respond gets its share of requests to payees' servers, and delays other companies only until one ends",
    () => slowly(20),
    function* ({ state }) {
      const { atOnce, perCompany } = settings.resolving
      const companies = yield* times(atOnce / perCompany, () => companyWith(100_000))
      const other = yield* companyWith(100_000)
      state.isSlow = true
      const [first, ...rest] = yield* Effect.forEach(companies, (payer) =>
        Effect.forkChild(
          Effect.forEach(
            Array.from({ length: perCompany + 4 }),
            (_, at) => confirm(payer, `settle@host${at}.slow.example`, 100),
            {
              concurrency: "unbounded"
            }
          ),
          { startImmediately: true }
        )
      )
      assert.strictEqual(state.asked, atOnce)
      const fast = yield* Effect.forkChild(toFast(other), { startImmediately: true })
      assert.isUndefined(fast.pollUnsafe())
      yield* Fiber.interrupt(first ?? assert.fail())
      yield* Fiber.join(fast)
      assert.strictEqual(state.mostAtHost, companies.length)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.joinAll(rest)
      assert.deepStrictEqual([state.asked, state.most], [0, atOnce])
    }
  )

  scenario(
    "payment worker: a process that is waiting for payees' servers can stop immediately, and another process takes over immediately",
    () => slowly(20),
    function* ({ state }) {
      const payer = yield* companyWith(100_000)
      const slow = yield* toSlow(payer, 5)
      state.isSlow = true
      const scope = yield* working()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(state.asked, 5)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual(state.asked, 0)
      state.isSlow = false
      yield* working(yield* start(yield* Effect.context<Ports>()))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* standings(slow), ["settled"])
    }
  )

  scenario(
    "C12 C19: payment worker: two processes contact slow payees' servers and pay each withdrawal once",
    () => slowly(20),
    function* ({ state }) {
      const [one, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
      const rows = [
        ...(yield* toSlow(one, 30, (at) => `host${at % 7}.slow.example`)),
        ...(yield* toSlow(other, 30))
      ]
      state.isSlow = true
      yield* working()
      yield* working(yield* start(yield* Effect.context<Ports>()))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* standings(rows), ["settled"])
      for (const row of rows)
        assert.strictEqual((yield* got((yield* now(row)).paymentHash ?? PaymentHash.make(""))).times, 1)
    }
  )

  scenario(
    "payment worker: payments claimed by a process killed while contacting payees' servers are taken over within seconds",
    () => slowly(20),
    function* ({ state }) {
      const payer = yield* companyWith(100_000)
      const rows = yield* toSlow(payer, 5)
      state.isSlow = true
      let isDead = false
      const unlessDead = <A, E>(call: Effect.Effect<A, E>) =>
        Effect.suspend(() => (isDead ? Effect.never : call))
      const mortal = replace(Tasks, (tasks) => ({
        claim: (ask) => unlessDead(tasks.claim(ask)),
        claimInTurn: (ask) => unlessDead(tasks.claimInTurn(ask)),
        takeOver: (ask) => unlessDead(tasks.takeOver(ask)),
        postpone: (...all) => unlessDead(tasks.postpone(...all)),
        renew: (...all) => unlessDead(tasks.renew(...all)),
        dueAt: (kinds) => unlessDead(tasks.dueAt(kinds))
      }))
      const asking = replace(Resolver, () => ({ offer: () => Effect.never }))
      const killed = yield* start((yield* Effect.context<Ports>()).pipe(mortal, asking))
      yield* Effect.provideContext(
        Layer.buildWithScope(Layer.fresh(Satrail.layerWorkers), yield* Scope.make()),
        killed
      )
      yield* TestClock.adjust("1 second")
      isDead = true
      state.isSlow = false
      yield* working()
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* standings(rows), ["pending"])
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(yield* standings(rows), ["settled"])
    }
  )
})

describe("Payment slots", () => {
  const few = { ...settings, paymentsAtOnce: 2 }

  it.effect(
    "payment worker: a free slot is refilled immediately, so one slow call to the node delays no other payment",
    () => {
      const answers = Deferred.makeUnsafe<void>()
      let first: string | undefined
      const change = replace(LightningSender, (sender) => ({
        pay: (ask) => {
          first ??= ask.invoice.paymentHash
          return first === ask.invoice.paymentHash
            ? Effect.andThen(Deferred.await(answers), sender.pay(ask))
            : sender.pay(ask)
        }
      }))
      return run({ settings: few, change }, function* () {
        const payer = yield* companyWith(100_000)
        const confirmed = () =>
          Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(payer, destination))
        const slow = yield* confirmed()
        yield* working()
        yield* TestClock.adjust("1 second")
        const others = yield* times(10, confirmed)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([yield* standings(others), yield* standing(slow)], [["settled"], "pending"])
        yield* Deferred.succeed(answers, undefined)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* standing(slow), "settled")
      })
    }
  )

  scenario(
    "payment worker: if several companies had withdrawals in the last claim, one company's withdrawals do not fill every slot of the next",
    { settings: { ...settings, paymentsAtOnce: 4 } },
    function* () {
      const [one, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
      const confirmed = (payer: Company) =>
        Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(payer, destination))
      yield* Effect.forEach([one, other], confirmed)
      yield* step
      yield* times(4, () => confirmed(one))
      const last = yield* confirmed(other)
      yield* step
      assert.strictEqual(yield* standing(last), "settled")
      yield* steps(2)
    }
  )

  it.effect("pause: a payment that waits for a slot during a pause is not started", () => {
    const { state, change: slow } = slowly(5)
    const answers = Deferred.makeUnsafe<void>()
    const change = (ports: Context.Context<Ports>) =>
      replace(LightningSender, (sender) => ({
        pay: (ask) => Effect.andThen(Deferred.await(answers), sender.pay(ask))
      }))(slow(ports))
    return run({ settings: few, change }, function* () {
      const payer = yield* companyWith(100_000)
      const [waiting] = yield* toSlow(payer, 1)
      if (waiting === undefined) return assert.fail()
      state.isSlow = true
      yield* working()
      yield* TestClock.adjust("1 second")
      const others = yield* times(2, () =>
        Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(payer, destination))
      )
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(state.asked, 0)
      yield* everywhere(Effect.flatMap(Stops, ({ pause }) => pause("sending")))
      yield* Deferred.succeed(answers, undefined)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* standings(others), ["settled"])
      assert.isNull((yield* now(waiting)).dispatchedAtMillis)
      yield* everywhere(Effect.flatMap(Stops, ({ resume }) => resume("sending")))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* standing(waiting), "settled")
    })
  })

  it.effect(
    "payment worker: the number of payment calls in flight never exceeds the number of slots, wherever the payments come from",
    () => {
      const { state, change: slow } = slowly(1)
      let [paying, most] = [0, 0]
      const change = (ports: Context.Context<Ports>) =>
        replace(LightningSender, (sender) => ({
          pay: (ask) =>
            Effect.acquireUseRelease(
              Effect.sync(() => (most = Math.max(most, ++paying))),
              () => Effect.andThen(Effect.sleep("1 second"), sender.pay(ask)),
              () => Effect.sync(() => paying--)
            )
        }))(slow(ports))
      return run({ settings: few, change }, function* () {
        const payer = yield* companyWith(100_000)
        const addresses = yield* toSlow(payer, 10)
        const invoices = yield* times(10, () =>
          Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(payer, destination))
        )
        state.isSlow = true
        yield* working()
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* standings([...addresses, ...invoices]), ["settled"])
        assert.strictEqual(most, 2)
      })
    }
  )

  it.effect(
    "payment worker: payments that are sent again, because no call arrived, share the slots with new payments",
    () => {
      let [paying, most, unheard] = [0, 0, 4]
      const change = replace(LightningSender, (sender) => ({
        pay: (ask) =>
          Effect.suspend(() => {
            if (unheard-- > 0) return Effect.succeed({ _tag: "unknown" } as const)
            return Effect.acquireUseRelease(
              Effect.sync(() => (most = Math.max(most, ++paying))),
              () => Effect.andThen(Effect.sleep("1 second"), sender.pay(ask)),
              () => Effect.sync(() => paying--)
            )
          })
      }))
      return run({ settings: few, change }, function* () {
        const payer = yield* companyWith(100_000)
        const confirmed = times(4, () =>
          Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(payer, destination))
        )
        const unanswered = yield* confirmed
        yield* steps(4, 0)
        assert.isBelow(unheard, 1)
        const rows = [...unanswered, ...(yield* confirmed)]
        yield* TestClock.adjust("1 second")
        yield* working()
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* standings(rows), ["settled"])
        assert.strictEqual(most, 2)
      })
    }
  )

  scenario(
    "payment worker: a payment that only waits for its outcome takes no slot",
    { isPending: true, settings: few },
    function* () {
      const payer = yield* companyWith(100_000)
      yield* working()
      const held = yield* times(10, () =>
        Effect.flatMap(outside({ sats: 100, behaviour: "hold" }), ({ destination }) =>
          confirm(payer, destination)
        )
      )
      yield* TestClock.adjust("1 second")
      const ordinary = yield* confirm(payer, (yield* outside({ sats: 100 })).destination)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* standings(held), yield* standing(ordinary)], [["pending"], "settled"])
    }
  )

  it.effect(
    "payment worker: companies take turns, so another company's payment waits only until one slot is free, not until all are free",
    () => {
      const change = replace(LightningSender, (sender) => ({
        pay: (ask) => Effect.andThen(Effect.sleep("1 second"), sender.pay(ask))
      }))
      return run({ settings: few, change }, function* () {
        const [one, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
        const many = yield* times(100, () =>
          Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(one, destination))
        )
        yield* working()
        yield* TestClock.adjust("1500 millis")
        const single = yield* confirm(other, (yield* outside({ sats: 100 })).destination)
        yield* TestClock.adjust("3 seconds")
        assert.strictEqual(yield* standing(single), "settled")
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* standings(many), ["settled"])
      })
    }
  )
})

/** Makes each payment call take a second, and records how many new withdrawals each claim found. */
const noted = () => {
  const found: Array<number> = []
  const change = (ports: Context.Context<Ports>) =>
    ports.pipe(
      replace(LightningSender, (sender) => ({
        pay: (ask) => Effect.andThen(Effect.sleep("1 second"), sender.pay(ask))
      })),
      replace(Tasks, (tasks) => ({
        claimInTurn: (ask) =>
          Effect.tap(tasks.claimInTurn(ask), (all) =>
            Effect.sync(() => ask.kind === Withdrawal.taskKind && found.push(all.length))
          )
      }))
    )
  return { found, change }
}

describe("Turns", () => {
  const toOutside = (company: Company) =>
    Effect.flatMap(outside({ sats: 100 }), ({ destination }) => confirm(company, destination))
  const settledOf = (rows: ReadonlyArray<Withdrawal.Withdrawal>) =>
    Effect.map(
      Effect.forEach(rows, (row) => standing(row)),
      (all) => all.filter((one) => one === "settled").length
    )

  it.effect(
    "payment worker: a company gets all free slots with two claims if no other company is waiting",
    () => {
      const { change, found } = noted()
      return run({ settings: { ...settings, paymentsAtOnce: 16 }, change }, function* () {
        const payer = yield* companyWith(100_000)
        const rows = yield* times(64, () => toOutside(payer))
        yield* working()
        yield* TestClock.adjust("10 millis")
        const first = [...found]
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(first, [4, 12])
        assert.deepStrictEqual(yield* standings(rows), ["settled"])
      })
    }
  )

  it.effect(
    "payment worker: a confirmed payment is claimed once, and a claim that fills only some of the slots is not repeated",
    () => {
      const { change, found } = noted()
      return run(
        { settings: { ...settings, trackMillis: { minimum: 60_000, maximum: 60_000 } }, change },
        function* () {
          const payer = yield* companyWith(100_000)
          yield* working()
          yield* TestClock.adjust("10 millis")
          const before = found.length
          for (let confirmed = 0; confirmed < 5; confirmed++) {
            yield* toOutside(payer)
            yield* TestClock.adjust("100 millis")
          }
          const claims = found.slice(before)
          yield* TestClock.adjust("10 seconds")
          assert.deepStrictEqual(claims, [1, 1, 1, 1, 1])
        }
      )
    }
  )

  it.effect(
    "payment worker: a company that arrives while another has a long queue gets an equal share of the slots",
    () => {
      const { change } = noted()
      return run({ settings: { ...settings, paymentsAtOnce: 16 }, change }, function* () {
        const [one, other] = [yield* companyWith(100_000), yield* companyWith(100_000)]
        const many = yield* times(200, () => toOutside(one))
        yield* working()
        yield* TestClock.adjust("2500 millis")
        const before = yield* settledOf(many)
        const late = yield* times(100, () => toOutside(other))
        yield* TestClock.adjust("8 seconds")
        const [its, theirs] = [(yield* settledOf(many)) - before, yield* settledOf(late)]
        yield* TestClock.adjust("1 minute")
        assert.isAtLeast(theirs, 16)
        assert.isAtLeast(theirs, its / 2)
        assert.isAtLeast(its, theirs / 2)
      })
    }
  )
})

describe("The outcome of a watched payment", () => {
  for (const outcome of ["settle", "fail"] as const) {
    scenario(
      `payment worker: an outcome (${outcome}) is recorded when the node reports it, however rarely the payment is polled`,
      { settings: { ...settings, trackMillis: { minimum: 250, maximum: 3_600_000 } } },
      function* () {
        const payer = yield* companyWith(5000)
        yield* working()
        const { destination, paymentHash = PaymentHash.make("") } = yield* outside({
          sats: 1000,
          behaviour: "hold"
        })
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("3 minutes")
        assert.strictEqual(yield* standing(row), "pending")
        yield* (yield* Sandbox).release({ paymentHash, outcome })
        yield* TestClock.adjust("1 second")
        assert.strictEqual(
          yield* standing(row),
          outcome === "settle" ? "settled" : "failed: incorrect_payment_details"
        )
      }
    )
  }

  it.effect("payment worker: an outcome reported during a lookup is recorded immediately", () => {
    let release: Effect.Effect<void> = Effect.void
    const [ended, answer] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    const thenHeld = Effect.andThen(
      Effect.suspend(() => release),
      Effect.andThen(Deferred.succeed(ended, undefined), Deferred.await(answer))
    )
    const change = replace(LightningSender, (sender) => ({
      pay: (ask) => Effect.tap(sender.pay(ask), () => thenHeld)
    }))
    return run(
      { settings: { ...settings, trackMillis: { minimum: 60_000, maximum: 60_000 } }, change },
      function* () {
        const payer = yield* companyWith(5000)
        yield* working()
        const { destination, paymentHash = PaymentHash.make("") } = yield* outside({
          sats: 1000,
          behaviour: "hold"
        })
        release = Effect.orDie((yield* Sandbox).release({ paymentHash, outcome: "settle" }))
        const row = yield* confirm(payer, destination)
        yield* Deferred.await(ended)
        yield* TestClock.adjust("1 second")
        const meanwhile = yield* standing(row)
        yield* Deferred.succeed(answer, undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([meanwhile, yield* standing(row)], ["pending", "settled"])
      }
    )
  })

  it.effect("payment worker: an outcome for which no notification arrives is found by a lookup", () => {
    const change = replace(LightningSender, () => ({ ends: Stream.never }))
    return run({ change }, function* () {
      const payer = yield* companyWith(5000)
      yield* working()
      const { destination, paymentHash = PaymentHash.make("") } = yield* outside({
        sats: 1000,
        behaviour: "hold"
      })
      const row = yield* confirm(payer, destination)
      yield* TestClock.adjust("3 minutes")
      yield* (yield* Sandbox).release({ paymentHash, outcome: "settle" })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* standing(row), "settled")
    })
  })

  scenario("C7: payment worker: two processes are notified, and the outcome is recorded once", function* () {
    const payer = yield* companyWith(50_000)
    yield* working()
    yield* working(yield* start(yield* Effect.context<Ports>()))
    const rows = yield* times(10, (at) =>
      Effect.gen(function* () {
        const { destination, paymentHash = PaymentHash.make("") } = yield* outside({
          sats: 1000,
          behaviour: "hold"
        })
        return { row: yield* confirm(payer, destination), paymentHash, settles: at % 2 === 0 }
      })
    )
    yield* TestClock.adjust("1 minute")
    for (const { paymentHash, settles } of rows)
      yield* (yield* Sandbox).release({ paymentHash, outcome: settles ? "settle" : "fail" })
    yield* TestClock.adjust("1 second")
    for (const { row, settles } of rows) assert.match(yield* standing(row), settles ? /^settled$/ : /^failed/)
  })
})
