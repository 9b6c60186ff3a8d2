import { assert, describe, it } from "@effect/vitest"
import { type Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { Acting, AuditStore } from "../src/ledger/Audit.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import { places } from "../src/sending/Handover.ts"
import type { Withdrawal } from "../src/sending/Withdrawal.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import {
  asked,
  companyWith,
  confirm,
  has,
  lightningAddress,
  outside,
  type Ports,
  replace,
  request,
  run,
  said,
  standing,
  start,
  working,
  unheld
} from "./World.ts"

/** Starts workers that have checked for work once, and will check again in a quarter of a second. */
const looked = (process?: Parameters<typeof working>[0]) =>
  Effect.tap(working(process), () => TestClock.adjust(1))

/** Records which withdrawals a process claims. With `slow`, internal payments wait until `open` has run. */
const watched = () => {
  const claimed: Array<string> = []
  const open = Deferred.makeUnsafe<void>()
  const claims = (ports: Context.Context<Ports>) =>
    replace(Tasks, (tasks) => ({
      claimInTurn: (ask) =>
        Effect.tap(tasks.claimInTurn(ask), (all) =>
          Effect.sync(() => claimed.push(...all.map(({ id }) => id)))
        )
    }))(ports)
  const slow = replace(Journal, (journal) => ({
    commit: (change) =>
      "deposit" in change
        ? Effect.andThen(Deferred.await(open), journal.commit(change))
        : journal.commit(change)
  }))
  return { claimed, open: Deferred.succeed(open, undefined), claims, slow }
}

/** A company with money, and another company's Lightning address. */
const both = Effect.gen(function* () {
  const payer = yield* companyWith(100_000)
  const payee = yield* companyWith(1)
  const { handle, domain } = yield* lightningAddress(payee)
  return { payer, payee, address: `${handle}@${domain}` }
})

const many = (count: number, payer: Company, address: string) =>
  Effect.forEach(Array.from({ length: count }), () => confirm(payer, address, 1))

const standings = (rows: ReadonlyArray<Withdrawal>) =>
  Effect.map(Effect.forEach(rows, standing), (all) => [...new Set(all)])

const away = Effect.fail(
  new StoreUnavailable({
    operation: "Journal.commit",
    cause: "cut",
    reason: "database_unreachable",
    remedy: ""
  })
)

describe("Internal payments by the process that confirms them", () => {
  it.effect(
    "payment worker: the process that confirms an internal payment pays it immediately, without querying the store for work",
    () => {
      const { claimed, claims } = watched()
      return run({ change: claims }, function* () {
        const { payer, payee, address } = yield* both
        yield* looked()
        const rows = yield* many(3, payer, address)
        yield* TestClock.adjust(1)
        assert.deepStrictEqual([yield* standings(rows), claimed], [["settled"], []])
        assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(99_997), unheld(4)])
      })
    }
  )

  it.effect("payment worker: the audit log contains a withdrawal's confirmation, but not its payment", () => {
    const acting = {
      actor: "key",
      actor_id: "k",
      actor_name: "till",
      verb: "send.confirm",
      address: "",
      request_id: "r"
    } as const
    return run({}, function* () {
      const { payer, address } = yield* both
      yield* looked()
      const row = yield* Effect.provideService(confirm(payer, address, 1), Acting, acting)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* standing(row), "settled")
      const entries = yield* (yield* AuditStore).auditOf(null, null, 10)
      // Skip the entries for opening the companies.
      assert.deepStrictEqual(
        entries.flatMap(({ entry }) =>
          entry.body.includes("CompanyOpened") ? [] : [[entry.companyId, entry.body.includes(row.id)]]
        ),
        [[payer.id, true]]
      )
    })
  })

  it.effect(
    "payment worker: only internal payments are handed over to the worker; it has to claim payments by the node",
    () => {
      const { claimed, claims } = watched()
      return run({ change: claims }, function* () {
        const { payer } = yield* both
        yield* looked()
        const row = yield* confirm(payer, (yield* outside({ sats: 100 })).destination)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([yield* standing(row), claimed], ["settled", [row.id]])
      })
    }
  )

  it.effect(
    "payment worker: an internal payment is left to other processes if this process has no worker",
    () => {
      const { claimed, claims } = watched()
      return run({ change: claims }, function* () {
        const { payer, address } = yield* both
        yield* looked(yield* start(yield* Effect.context<Ports>()))
        const row = yield* confirm(payer, address, 1)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([yield* standing(row), claimed], ["settled", [row.id]])
      })
    }
  )

  it.effect("payment worker: a refused or repeated confirmation takes no slot", () => {
    const { claimed, claims } = watched()
    // Simulates a repeated request that arrives while the first is being committed.
    const unanswered = replace(LedgerReads, () => ({ answer: () => Effect.succeedNone }))
    const paid: Array<string> = []
    const noted = replace(Journal, (journal) => ({
      commit: (change) => {
        if ("deposit" in change) paid.push(change.id)
        return journal.commit(change)
      }
    }))
    return run({ change: (ports) => claims(unanswered(noted(ports))) }, function* () {
      const { payer, address } = yield* both
      yield* looked()
      const refused = yield* Effect.forEach(Array.from({ length: places + 1 }), () =>
        said(confirm(payer, address, 100_001))
      )
      assert.deepStrictEqual([...new Set(refused)], ["InsufficientBalance"])
      const repeated = {
        company: payer,
        asked: yield* asked(1),
        destination: address,
        metadata: {},
        request: request("k")
      }
      const outcomes = yield* Effect.forEach(Array.from({ length: places + 1 }), () =>
        Effect.flatMap(Withdrawals, ({ confirm }) => confirm(repeated))
      )
      assert.deepStrictEqual([...new Set(outcomes.map(({ _tag }) => _tag))], ["Made", "Replayed"])
      const [first] = outcomes.flatMap((outcome) => (outcome._tag === "Made" ? [outcome.value.id] : []))
      const row = yield* confirm(payer, address, 1)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([yield* standing(row), claimed], ["settled", []])
      assert.deepStrictEqual(paid, [first, row.id])
    })
  })

  for (const gone of ["disconnects", "gets a store outage"] as const) {
    it.effect(`payment worker: a confirmed payment is paid a second later if its caller ${gone}`, () => {
      const change = replace(Journal, (journal) => ({
        commit: (change) =>
          "once" in change
            ? Effect.andThen(journal.commit(change), gone === "disconnects" ? Effect.never : away)
            : journal.commit(change)
      }))
      return run({ change }, function* () {
        const { payer, payee, address } = yield* both
        yield* looked()
        const amount = yield* asked(1)
        const confirming = (yield* Withdrawals).confirm({
          company: payer,
          asked: amount,
          destination: address,
          metadata: {},
          request: request("k")
        })
        const fiber = yield* Effect.forkChild(confirming, { startImmediately: true })
        yield* TestClock.adjust(1)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* has(payer), { posted: 100_000, held: 1 })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(99_999), unheld(2)])
      })
    })
  }

  it.effect(
    "payment worker: payments for which no slot is free are claimed like any others, and all are paid once",
    () => {
      const { claimed, claims, slow, open } = watched()
      return run({ change: (ports) => claims(slow(ports)) }, function* () {
        const { payer, payee, address } = yield* both
        yield* looked()
        yield* Effect.addFinalizer(() => open)
        const rows = yield* many(places + 10, payer, address)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(
          claimed.toSorted(),
          rows
            .slice(places)
            .map(({ id }) => id)
            .toSorted()
        )
        assert.deepStrictEqual(yield* standings(rows), ["pending"])
        yield* open
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(yield* standings(rows), ["settled"])
        assert.deepStrictEqual(yield* has(payee), { posted: places + 11, held: 0 })
      })
    }
  )

  it.effect(
    "payment worker: before a process stops, it makes the payments that were handed over to it, and accepts no more",
    () => {
      const { claimed, claims, slow, open } = watched()
      return run({ change: (ports) => claims(slow(ports)) }, function* () {
        const { payer, address } = yield* both
        const scope = yield* looked()
        yield* Effect.addFinalizer(() => open)
        const before = yield* confirm(payer, address, 1)
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.isUndefined(closing.pollUnsafe())
        const after = yield* confirm(payer, address, 1)
        yield* open
        yield* TestClock.adjust(1)
        assert.isDefined(closing.pollUnsafe())
        assert.deepStrictEqual([yield* standing(before), yield* standing(after)], ["settled", "pending"])
        yield* looked(yield* start(yield* Effect.context<Ports>()))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([yield* standing(after), claimed], ["settled", [after.id]])
      })
    }
  )

  it.effect(
    "C19: payment worker: payments handed over to a process that is then killed are taken over when the claim ends, and are paid once",
    () => {
      const { slow } = watched()
      return run({}, function* () {
        const { payer, payee, address } = yield* both
        const ports = yield* Effect.context<Ports>()
        const claimsNothing = replace(Tasks, () => ({ claimInTurn: () => Effect.never }))
        const killed = yield* start(claimsNothing(slow(ports)))
        yield* Effect.provideContext(
          Layer.buildWithScope(Layer.fresh(Satrail.layerWorkers), yield* Scope.make()),
          killed
        )
        yield* TestClock.adjust(1)
        const row = yield* Effect.provideContext(confirm(payer, address, 1), killed)
        yield* looked()
        yield* TestClock.adjust("29 seconds")
        assert.strictEqual(yield* standing(row), "pending")
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(yield* standing(row), "settled")
        assert.deepStrictEqual(yield* has(payee), { posted: 2, held: 0 })
      })
    }
  )
})
