import { assert, describe, it } from "@effect/vitest"
import { companyWith, once, tally, verdict, withdrawal } from "@satrail/contracts/Fixtures"
import { voucher } from "@satrail/contracts/features/vouchers/Fixtures"
import type * as Contract from "@satrail/contracts/Contract"
import * as JournalContract from "@satrail/contracts/journal/Journal"
import { has } from "@satrail/contracts/Ledger"
import * as RecordsContract from "@satrail/contracts/records/Records"
import * as TasksContract from "@satrail/contracts/journal/Tasks"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Changes from "@satrail/core/service/Changes"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PgJournal from "../src/journal/Journal.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as Records from "@satrail/service/postgres/Records"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Tasks from "../src/Tasks.ts"
import * as Database from "./Database.ts"
import * as Edges from "./Edges.ts"

const storage = (options: PgJournal.Options) => Layer.provide(Storage.layerClient(options), Database.layer)

/** Two processes on one database: commits alternate between them. Only row locks put the commits in order. */
const twoJournals = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journals = [(yield* PgJournal.make({})).journal, (yield* PgJournal.make({})).journal] as const
    let turn = 0
    return Changes.journal((change) => journals[turn++ % 2 === 0 ? 0 : 1].commit(change))
  })
)

// The checks would turn a missing row lock into an error and a retry with the right result. Without them, only
// the lock protects the balance.
const withoutChecks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrations.migrate
  yield* sql`alter table satrail.balances drop constraint balances_check, drop constraint balances_held_check`
})

const twoProcesses = Layer.mergeAll(twoJournals, Records.layer, Tasks.layer).pipe(
  Layer.provideMerge(Layer.unwrap(Effect.as(withoutChecks, Layer.empty))),
  Layer.provideMerge(Database.layer)
)

/** The number of sessions of this database that wait for a locked row. */
const waiting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: string }>`
    select count(*)::text as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return Number(row?.n)
})

/**
 * Starts `work` while the rows selected by `lock` are locked. Unlocks them once the given number of flushes
 * wait and `meanwhile` is done.
 */
const whileHeld = <A, E, R, R2>(
  lock: string,
  work: Effect.Effect<A, E, R>,
  {
    flushes,
    meanwhile
  }: { readonly flushes: number; readonly meanwhile: Effect.Effect<unknown, unknown, R2> }
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [isLocked, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    // Uses its own fiber because the store refuses to write inside this transaction.
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`select from satrail.${lock} for no key update`)
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(isOver)
        })
      )
    )
    yield* Effect.raceFirst(Deferred.await(isLocked), Fiber.join(holder))
    const fiber = yield* Effect.forkChild(work, { startImmediately: true })
    const endedEarly = Effect.flatMap(Fiber.await(fiber), (exit) =>
      Effect.die(new Error(`the work ended without waiting: ${exit}`))
    )
    yield* Effect.raceFirst(Effect.repeat(waiting, { until: (n) => n >= flushes }), endedEarly)
    yield* meanwhile
    yield* Deferred.succeed(isOver, undefined)
    yield* Fiber.join(holder)
    return yield* Fiber.join(fiber)
  })

/** Runs `whileHeld` with a company's balance locked. */
const whileLocked = <A, E, R, R2>(
  companyId: CompanyId.CompanyId,
  work: Effect.Effect<A, E, R>,
  options: Parameters<typeof whileHeld<A, E, R, R2>>[2]
) => whileHeld(`balances where company_id = '${companyId}'`, work, options)

describe.skipIf(Database.server === undefined)("on a server (skipped where there is none)", () => {
  JournalContract.suite("postgres, grouped", storage({}))
  RecordsContract.suite("postgres", storage({}))
  TasksContract.suite("postgres", storage({}))
  Edges.suite("postgres", storage({}))

  it.layer(twoProcesses, { excludeTestServices: true })("two processes, without CHECK constraints", (it) => {
    const promises: Contract.Promises<Layer.Success<typeof twoProcesses>> = JournalContract.promises
    // Omits "first come, first served", which is guaranteed only within a process.
    for (const promise of [
      "C12: if 200 concurrent requests ask for the whole balance, exactly one is accepted",
      "C12: if 64 callers send 512 requests and the balance covers 99, exactly 99 are accepted",
      "C14: if eight withdrawals would pay one hash concurrently, only one is dispatched",
      "C15: if eight withdrawals claim one invoice concurrently, one gets it",
      "C15: an invoice paid internally and over the network concurrently is credited once",
      "C17: repeating a transfer, even concurrently, moves the money once",
      "C19: if eight payouts would spend one coin concurrently, only one is dispatched",
      "C42: an output that eight workers record concurrently is one deposit",
      "withdrawals: `failed` takes effect once, even if repeated eight times concurrently",
      "C45: reversing and spending a deposit concurrently never makes a balance negative",
      "a deposit that eight workers confirm concurrently is credited once",
      "one company's concurrent credits and withdrawals add up exactly",
      "lightning_addresses: a unique name is never used twice; if eight creations run concurrently, one succeeds",
      "if eight concurrent requests have the same key, only one takes effect and all get its response",
      "if two concurrent requests have the same key but different bodies, one takes effect and the other is refused",
      "invoices: `settled` takes effect once, even if repeated eight times concurrently",
      "C20: a withdrawal that is settled and failed concurrently has exactly one outcome",
      "withdrawals: creating the same record again, even eight times concurrently, stores it once",
      "C17: when a withdrawal is transferred and failed concurrently, both companies see the same outcome",
      "many concurrent payments between two companies add up exactly",
      "vouchers: of eight concurrent creations with one idempotency key, one is applied and the others are replayed",
      "C18 C20: a voucher that is claimed, expired and canceled concurrently has one outcome, and its money is moved once",
      "C18: if fifty claims run concurrently, exactly one is applied, and there is exactly one withdrawal",
      "vouchers: `claimed` takes effect once, even if repeated eight times concurrently",
      "concurrent vouchers never hold more than the balance",
      "C20 C54: a settled withdrawal stays settled"
    ]) {
      it.effect(promise, () =>
        Effect.repeat(promises[promise] ?? Effect.die("there is no such guarantee"), { times: 9 })
      )
    }

    const request = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, key?: string) {
      return Withdrawal.requested(
        yield* withdrawal(companyId, 100),
        key === undefined ? undefined : once(companyId, key)
      )
    })

    it.effect(
      "C13: postgres: a flush waits for the row lock of its company's balance, and other companies' flushes do not wait",
      () =>
        Effect.gen(function* () {
          const [locked, free] = [yield* companyWith(100), yield* companyWith(100)]
          const asked = yield* request(locked)
          const other = Effect.tap(Effect.flatMap(request(free), verdict), (word) =>
            Effect.sync(() => assert.strictEqual(word, "Applied"))
          )
          assert.strictEqual(
            yield* whileLocked(locked, verdict(asked), { flushes: 1, meanwhile: other }),
            "Applied"
          )
          yield* has(locked, { posted: 100, held: 100 })
        })
    )

    it.effect(
      "postgres: a voucher has one outcome if a claim and a cancellation wait for its row concurrently",
      () =>
        Effect.gen(function* () {
          const companyId = yield* companyWith(100)
          const row = yield* voucher(companyId, 40)
          yield* verdict(Voucher.created(row))
          const to = { id: yield* Id.make, recipient: "lnbcrt1…", network: "regtest" } as const
          const both = Effect.forEach([Voucher.claimed(row, to, 1), Voucher.canceled(row, 1)], verdict, {
            concurrency: 2
          })
          const verdicts = yield* whileHeld(`vouchers where id = '${row.id}'`, both, {
            flushes: 2,
            meanwhile: Effect.void
          })
          const isClaimed = verdicts[0] === "Applied"
          assert.deepStrictEqual(
            verdicts,
            isClaimed ? ["Applied", "VoucherNotOpen"] : ["VoucherNotOpen", "Applied"]
          )
          yield* has(companyId, { posted: 100, held: isClaimed ? 40 : 0 })
        })
    )

    it.effect(
      "postgres: if two processes commit the same request and the funds cover it once, both return `Applied`",
      () =>
        Effect.gen(function* () {
          const companyId = yield* companyWith(100)
          const asked = yield* request(companyId)
          const both = Effect.all([verdict(asked), verdict(asked)], { concurrency: 2 })
          assert.deepStrictEqual(
            yield* whileLocked(companyId, both, { flushes: 2, meanwhile: Effect.void }),
            ["Applied", "Applied"]
          )
          yield* has(companyId, { posted: 100, held: 100 })
        })
    )

    it.effect(
      "postgres: if two processes use the same key and the funds cover one request, one is applied and both get its response",
      () =>
        Effect.gen(function* () {
          const companyId = yield* companyWith(100)
          const asked = [yield* request(companyId, "k"), yield* request(companyId, "k")]
          const both = Effect.forEach(asked, verdict, { concurrency: 2 })
          assert.deepStrictEqual(
            tally(yield* whileLocked(companyId, both, { flushes: 2, meanwhile: Effect.void })),
            {
              Applied: 1,
              Replayed: 1
            }
          )
          yield* has(companyId, { posted: 100, held: 100 })
        })
    )

    it.effect(
      "C13: postgres: if the funds cover only one of two processes' requests, the other is rejected, not retried endlessly",
      () =>
        Effect.gen(function* () {
          const companyId = yield* companyWith(100)
          const asked = [yield* request(companyId), yield* request(companyId)]
          const both = Effect.forEach(asked, verdict, { concurrency: 2 })
          assert.deepStrictEqual(
            tally(yield* whileLocked(companyId, both, { flushes: 2, meanwhile: Effect.void })),
            {
              Applied: 1,
              InsufficientBalance: 1
            }
          )
          yield* has(companyId, { posted: 100, held: 100 })
        })
    )

    it.effect("postgres: a broken connection is an outage, and the same Change can be committed again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const companyId = yield* companyWith(100)
        const asked = yield* request(companyId)
        const meanwhile = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        assert.strictEqual(
          yield* whileLocked(companyId, verdict(asked), { flushes: 1, meanwhile }),
          "StoreUnavailable"
        )
        yield* has(companyId, { posted: 100, held: 0 })
        assert.strictEqual(yield* verdict(asked), "Applied")
        yield* has(companyId, { posted: 100, held: 100 })
      })
    )
  })

  it.effect("migration: eight processes that start concurrently on an empty database all start", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      yield* Effect.all(
        Array.from({ length: 8 }, () => Layer.build(Storage.layer({ url, maxConnections: 2 }))),
        { concurrency: "unbounded" }
      )
    })
  )
})
