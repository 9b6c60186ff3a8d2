import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import { companyWith } from "@satrail/contracts/Fixtures"
import { auditAll, has } from "@satrail/contracts/Ledger"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { all as everyFeature } from "@satrail/service/features/core"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Context, Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import path from "node:path"
import { all as features } from "@satrail/service/features/postgres"
import * as Baseline from "@satrail/service/postgres/migrations/Baseline"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"

const fixture = readFileSync(path.join(import.meta.dirname, "at0080.sql"), "utf8")

/** Creates a database as the first release left it. */
const atFirstRelease = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const script of ["create schema satrail", Baseline.script, fixture])
    yield* sql.unsafe(script).unprepared
})

const nextNumber = Migrations.newestKnown + 1

/** A later version of this program, with one more migration, which fails if it runs twice. */
const later = Migrations.make({
  ...Migrations.scripts,
  [`${nextNumber}_next`]: `
alter table satrail.companies add column note text not null default 'none';
insert into satrail.cursors (source, value) values ('next migration', 'ran');`
})

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Every row of every table in PostgreSQL's own text format. */
const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'satrail' and table_name <> 'migrations' order by 1`
  const rows = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql.unsafe<{ readonly row: string }>(
        `select to_jsonb(t)::text as row from satrail.${name} t order by 1`
      ),
      (all) => [name, all.map(({ row }): Rows[number] => JSON.parse(row))] as const
    )
  )
  return Object.fromEntries(rows)
})

/** The tables of features' records. */
const tablesOfFeatures = everyFeature.flatMap(({ nouns }) => nouns.map(({ name }) => name))

it("migration: only a feature's own migrations use its tables, so that the others also run without the feature", () => {
  const own = new Set([
    "0080_first_release",
    ...features.flatMap(({ migrations = {} }) => Object.keys(migrations))
  ])
  const others = Object.entries(Migrations.scripts).filter(([name]) => !own.has(name))
  assert.isNotEmpty(others)
  assert.isNotEmpty(tablesOfFeatures)
  for (const [name, script] of others)
    for (const table of tablesOfFeatures) assert.notMatch(script, new RegExp(`satrail\\.${table}\\b`), name)
})

/** Columns that migrations add to the first release's rows, with their values, by table. */
const added: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  answers: { meaning: null },
  checkouts: {
    options: [],
    contact: null,
    tip_percent: null,
    payer_email: null,
    quoted_at_millis: null,
    deducted: 0,
    locale_source: "seller",
    rate_source: null,
    splits: null
  },
  deposits: { paid_at_millis: null, splits: null },
  invoices: { fiat_currency: null, rate_source: null, splits: null },
  lightning_addresses: { splits: null },
  on_chain_addresses: { splits: null },
  refunds: { created_by: null, rate: null, rate_at_millis: null, fiat_currency: null, rate_source: null },
  vouchers: { created_by: null, fiat_currency: null, rate_source: null },
  webhook_deliveries: { earlier: [] },
  withdrawals: { fiat_currency: null, rate_source: null }
}

/** Tables of which migrations delete rows: sessions that the first release began. */
const emptied: ReadonlySet<string> = new Set(["console_sessions"])

const acme = CompanyId.make("01900000-0000-7000-8000-00000000000a")
const böhm = CompanyId.make("01900000-0000-7000-8000-00000000000b")
const nowMillis = 1_700_000_100_000

const suite = (name: string, client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
  describe(`a database of the first release (${name})`, () => {
    it.live(
      "migration: a database of the first release keeps all its rows except sessions, and its jobs resume",
      () =>
        Effect.gen(function* () {
          yield* atFirstRelease
          const before = yield* everything
          for (const [table, rows] of Object.entries(before))
            assert.isNotEmpty(rows, `the fixture has nothing in ${table}`)
          yield* Migrations.migrate
          const after = yield* everything
          for (const [table, rows] of Object.entries(before)) {
            const expected = rows.map((row) => ({ ...row, ...added[table] }))
            const now = [...(after[table] ?? [])]
            // Migrations index records of the first release, too.
            if (emptied.has(table)) assert.isEmpty(now, table)
            else if (table.endsWith("_labels")) assert.includeDeepMembers(now, expected, table)
            else assert.sameDeepMembers(now, expected, table)
          }
          yield* Effect.gen(function* () {
            const [records, tasks, journal] = [yield* Records, yield* Tasks, yield* Journal]
            yield* auditAll
            const claimed = yield* tasks.claim({
              kind: Withdrawal.taskKind,
              nowMillis,
              leaseMillis: 1000,
              limit: 10
            })
            assert.deepStrictEqual(
              claimed.map(({ id, token }) => [id.slice(-2), token]),
              [
                ["10", 1],
                ["11", 4]
              ]
            )
            const task = claimed[0] ?? assert.fail()
            const withdrawal = Option.getOrThrow(yield* records.withdrawal(acme, task.id))
            yield* journal.commit(Withdrawal.failed(withdrawal, "no_route", fence(task), nowMillis))
            yield* has(acme, { posted: 95, held: 10 })
            assert.deepStrictEqual(yield* records.cursor("lightning:02aa"), Option.some("42"))
            const found = (companyId: CompanyId.CompanyId, key: string, value: string) =>
              Effect.map(records.search(companyId, { limit: 10, label: { key, value } }, 100), ({ rows }) =>
                rows.map(({ id }) => id.slice(-2))
              )
            assert.deepStrictEqual(yield* found(acme, "order", "7"), ["06"])
            assert.deepStrictEqual(yield* found(acme, "payroll", "may"), ["10"])
            assert.deepStrictEqual(yield* found(acme, "shelf", "3"), [])
            assert.deepStrictEqual(yield* found(böhm, "shelf", "3"), ["08"])
            const query = { atMillis: 0, limit: 10, before: null, label: { key: "order", value: "7" } }
            assert.deepStrictEqual(
              (yield* records.invoicesOf(acme, query, 100)).rows.map(({ id }) => id.slice(-2)),
              ["03"]
            )
            yield* auditAll
          }).pipe(Effect.provide(Storage.layerClient()))
        }).pipe(Effect.provide(client))
    )

    it.live(
      "migration: a later version migrates the data of the first release, and this version then rejects the database",
      () =>
        Effect.gen(function* () {
          yield* atFirstRelease
          yield* Migrations.migrate
          const before = yield* everything
          assert.deepStrictEqual(yield* later.migrate, { before: Migrations.newestKnown, now: nextNumber })
          const after = yield* everything
          const expected: Readonly<Record<string, Rows>> = {
            ...before,
            companies: (before["companies"] ?? []).map((row) => ({ ...row, note: "none" })),
            cursors: [...(before["cursors"] ?? []), { source: "next migration", value: "ran" }]
          }
          for (const [table, rows] of Object.entries(after))
            assert.sameDeepMembers([...rows], [...(expected[table] ?? [])], table)
          assert.deepStrictEqual(yield* later.migrate, { before: nextNumber, now: nextNumber })
          for (const refused of [Migrations.migrate, Migrations.ready]) {
            const error = yield* Effect.flip(refused)
            assert.deepStrictEqual(
              { ...error },
              { ...new Migrations.SchemaTooNew({ found: nextNumber, known: Migrations.newestKnown }) }
            )
          }
          assert.deepStrictEqual(yield* everything, after)
        }).pipe(Effect.provide(client))
    )
  })

suite("pglite", Embedded.layer)

const ask = (text: string) => SqlClient.SqlClient.use((sql) => sql.unsafe(text).unprepared)

/** Creates a database with the tables of this version. */
const migrated = Effect.gen(function* () {
  const url = yield* Database.make
  const first = yield* Layer.build(PgClient.layer({ url }))
  yield* Effect.provide(Effect.andThen(atFirstRelease, Migrations.migrate), first)
  return { url, first }
})

/** Opens a transaction that runs `text`. Returns the effect that runs `last` in it and commits it. */
const holding = Effect.fnUntraced(function* (url: Redacted.Redacted, text: string, last = "select") {
  const [held, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const parts = [ask(text), Deferred.succeed(held, undefined), Deferred.await(isOver), ask(last)]
  const transaction = SqlClient.SqlClient.use((sql) =>
    sql.withTransaction(Effect.all(parts, { discard: true }))
  )
  const holds = yield* Effect.forkScoped(
    Effect.provide(transaction, PgClient.layer({ url, maxConnections: 1 }))
  )
  yield* Effect.raceFirst(Deferred.await(held), Fiber.join(holds))
  return Effect.andThen(Deferred.succeed(isOver, undefined), Fiber.join(holds))
})

/** Waits until this number of sessions has waited for a lock for some time. */
const waiting = (count: number) =>
  eventually(
    ask(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query_start < clock_timestamp() - interval '100 ms'`),
    (rows) => rows.length === count
  )

describe.skipIf(Database.server === undefined)("on a server (skipped where there is none)", () => {
  suite("postgres", Database.layer)

  it.live("migration: when eight processes start concurrently, one migrates and all start", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const first = yield* Layer.build(PgClient.layer({ url }))
      yield* Effect.provide(atFirstRelease, first)
      yield* Effect.all(
        Array.from({ length: 8 }, () =>
          Effect.provide(later.ready, PgClient.layer({ url, maxConnections: 2 }))
        ),
        { concurrency: "unbounded" }
      )
      const [row] = yield* Context.get(
        first,
        SqlClient.SqlClient
      )`select max(migration_id) as newest from satrail.migrations`
      assert.deepStrictEqual(row, { newest: nextNumber })
    })
  )

  it.live(
    "migration: a process that starts during a migration waits for its end, also longer than for any other lock",
    () =>
      Effect.gen(function* () {
        const { url, first } = yield* migrated
        const starting = yield* Layer.build(PgClient.layer({ url, lockTimeoutMillis: 50 }))
        const release = yield* holding(url, "select pg_advisory_xact_lock(1)")
        const slow = Migrations.make({
          ...Migrations.scripts,
          [`${nextNumber}_next`]: "select pg_advisory_xact_lock(1)"
        })
        const migrates = yield* Effect.forkChild(Effect.provide(slow.migrate, first))
        yield* Effect.provide(waiting(1), first)
        const starts = yield* Effect.forkChild(Effect.provide(slow.ready, starting))
        yield* Effect.raceFirst(Effect.provide(waiting(2), first), Fiber.join(starts))
        yield* release
        yield* Fiber.join(migrates)
        yield* Fiber.join(starts)
      })
  )

  it.live(
    "migration: statements do not wait behind a migration that waits for a long transaction, such as a dump",
    () =>
      Effect.gen(function* () {
        const { url, first } = yield* migrated
        const release = yield* holding(url, "lock table satrail.companies in access share mode")
        const next = Migrations.make(
          {
            ...Migrations.scripts,
            [`${nextNumber}_next`]: "alter table satrail.companies add column note text"
          },
          200
        )
        const migrates = yield* Effect.forkChild(Effect.provide(next.migrate, first))
        yield* Effect.provide(waiting(1), first)
        yield* Effect.provide(ask("select from satrail.companies limit 1"), first)
        yield* release
        assert.deepStrictEqual(yield* Fiber.join(migrates), {
          before: Migrations.newestKnown,
          now: nextNumber
        })
      })
  )

  it.live("migration: a migration that was ended by a deadlock with the traffic is repeated", () =>
    Effect.gen(function* () {
      const { url, first } = yield* migrated
      const own = "lock table satrail.companies in row exclusive mode; set local deadlock_timeout = '1h'"
      const release = yield* holding(url, own, "lock table satrail.deposits in row exclusive mode")
      const script = "lock table satrail.deposits in share mode; lock table satrail.companies in share mode"
      const next = Migrations.make({ ...Migrations.scripts, [`${nextNumber}_next`]: script }, 2000)
      const migrates = yield* Effect.forkChild(Effect.provide(next.migrate, first))
      yield* Effect.provide(waiting(1), first)
      yield* release
      assert.deepStrictEqual(yield* Fiber.join(migrates), { before: Migrations.newestKnown, now: nextNumber })
    })
  )

  it.live("migration: the error of a failed migration contains the database's reason", () =>
    Effect.gen(function* () {
      const { first } = yield* migrated
      const next = Migrations.make({ ...Migrations.scripts, [`${nextNumber}_next`]: "select 1 / 0" })
      const { message } = yield* Effect.flip(Effect.provide(next.ready, first))
      assert.strictEqual(
        message,
        `Migration "${nextNumber}_next" failed, and nothing was changed: division by zero`
      )
    })
  )

  it.live("migration: a process that may only read and write rows starts on a migrated database", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const owner = yield* Layer.build(PgClient.layer({ url }))
      const role = `satrail_test_${randomUUID().replaceAll("-", "")}`
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.migrate
        yield* Effect.acquireRelease(sql.unsafe(`create role ${role} login`), () =>
          Effect.orDie(sql.unsafe(`drop owned by ${role}; drop role ${role}`).unprepared)
        )
        for (const right of [
          "usage on schema satrail",
          "select, insert, update, delete on all tables in schema satrail"
        ])
          yield* sql.unsafe(`grant ${right} to ${role}`)
        const limited = new URL(Redacted.value(url))
        limited.username = role
        const storage = yield* Layer.build(Storage.layer({ url: Redacted.make(limited.href) }))
        yield* Effect.provide(
          Effect.flatMap(companyWith(21), (companyId) => has(companyId, { posted: 21, held: 0 })),
          storage
        )
      }).pipe(Effect.scoped, Effect.provide(owner))
    })
  )
})
