import { assert, it } from "@effect/vitest"
import * as Company from "@satrail/core/accounts/Company"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import { Records } from "@satrail/core/service/Records"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DirectoryLocked } from "../src/client/DirectoryLock.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgliteClient from "../src/client/PgliteClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import { shared } from "./Shared.ts"

const company = Effect.gen(function* () {
  return {
    id: CompanyId.make(yield* Id.make),
    name: "Acme",
    plan: "free" as const,
    createdAtMillis: 1,
    limits: null,
    frozen: null,
    loosening: null,
    fees: null,
    feesRevision: 0
  }
})

it.live(
  "C10: embedded database: commits survive a killed process; only one process at a time may open the directory",
  () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "satrail-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, [join(import.meta.dirname, "committer.ts"), directory], {
            stdio: ["ignore", "pipe", "inherit"]
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const committed: Array<CompanyId.CompanyId> = []
      yield* Effect.promise(async () => {
        for await (const id of createInterface(child.stdout))
          if (committed.push(CompanyId.make(id)) === 50) break
      })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Storage.layerEmbedded({ directory }))))
      assert.deepStrictEqual({ ...error }, { ...new DirectoryLocked({ directory, pid: child.pid ?? 0 }) })
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      const found = yield* Effect.gen(function* () {
        const records = yield* Records
        return yield* Effect.forEach(committed, (id) => records.company(id), { concurrency: "unbounded" })
      }).pipe(Effect.provide(Storage.layerEmbedded({ directory })))
      assert.deepStrictEqual(
        found.map(Option.isSome),
        committed.map(() => true)
      )
    })
)

const client = await shared(PgliteClient.layer())

it.layer(client, { excludeTestServices: true })("migrations", (it) => {
  const storage = Storage.layerClient()

  it.effect(
    "migrations: each migration runs once, so a second start has nothing to do and loses nothing",
    () =>
      Effect.gen(function* () {
        const row = yield* company
        yield* Effect.provide(
          Effect.flatMap(Journal, (journal) => journal.commit(Company.opened(row))),
          storage
        )
        const found = yield* Effect.provide(
          Effect.flatMap(Records, (records) => records.company(row.id)),
          storage
        )
        assert.deepStrictEqual(found, Option.some(row))
      })
  )

  const nothing = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql.unsafe("drop schema if exists satrail cascade").unprepared
  )

  it.effect("migrations: two concurrent starts on an empty database both succeed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* nothing
      yield* Effect.all([Migrations.migrate, Migrations.migrate], { concurrency: "unbounded" })
      const rows = yield* sql`select max(migration_id)::text as newest from satrail.migrations`
      assert.deepStrictEqual(rows, [{ newest: String(Migrations.newestKnown) }])
    })
  )

  it.effect("events: events are read in order, starting with the first one", () =>
    Effect.gen(function* () {
      yield* nothing
      const rows = yield* Effect.all([company, company, company, company, company])
      const events = yield* Effect.gen(function* () {
        const journal = yield* Journal
        yield* Effect.forEach(rows, (row) => journal.commit(Company.opened(row)))
        return yield* (yield* Records).events(0n, 10)
      }).pipe(Effect.provide(storage))
      assert.deepStrictEqual(
        events.map(({ subject }) => subject),
        rows.map(({ id }) => id)
      )
      // The ids gain digits at different times, so they must be compared as numbers.
      assert.isTrue(events.every(({ id }, i) => i === 0 || id > (events[i - 1]?.id ?? 0n)))
    })
  )

  it.effect(
    "events: after a dump is restored on a server with fewer transactions, a reader that read events newer than the dump misses no new ones",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [earlier, later] = [yield* company, yield* company]
        /** The ids of a million transactions after the dump. */
        const lost = 1_000_000n * 4096n
        yield* Effect.provide(
          Effect.flatMap(Journal, (journal) => journal.commit(Company.opened(earlier))),
          storage
        )
        yield* sql`update satrail.events set id = id + 4096000000`
        const [newest] = yield* sql<{ readonly id: string }>`select max(id)::text as id from satrail.events`
        yield* Effect.provide(
          Effect.flatMap(Journal, (journal) => journal.commit(Company.opened(later))),
          storage
        )
        const after = yield* Effect.provide(
          Effect.flatMap(Records, (records) => records.events(BigInt(newest?.id ?? 0) + lost, 10)),
          storage
        )
        assert.deepStrictEqual(
          after.map(({ subject }) => subject),
          [later.id]
        )
      })
  )

  it.effect(
    "C35: ledger: the database rejects negative balances and postings that are not positive, whatever a program writes",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const row = yield* company
        yield* Effect.provide(
          Effect.flatMap(Journal, (journal) => journal.commit(Company.opened(row))),
          storage
        )
        const verdict = (statement: string) =>
          // An accepted statement is rolled back.
          Effect.flip(
            sql.withTransaction(Effect.andThen(sql.unsafe(statement), Effect.fail("taken" as const)))
          ).pipe(Effect.map((error) => (error === "taken" ? error : error.reason._tag)))
        const post = (amount: number) =>
          verdict(`insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
          values ('${row.id}', '${row.id}', 'node', 'available', ${amount}, 1)`)
        assert.deepStrictEqual(
          [yield* post(1), yield* post(0), yield* post(-1)],
          ["taken", "ConstraintError", "ConstraintError"]
        )
        const total = (posted: number, held: number) =>
          verdict(
            `update satrail.balances set posted = ${posted}, held = ${held} where company_id = '${row.id}'`
          )
        const totals = [yield* total(1, 1), yield* total(-1, 0), yield* total(0, -1), yield* total(1, 2)]
        assert.deepStrictEqual(totals, ["taken", "ConstraintError", "ConstraintError", "ConstraintError"])
      })
  )

  it.effect("migrations: a database migrated by a newer program is left unchanged", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into satrail.migrations (migration_id, name) values (9999, 'of_tomorrow')`
      const error = yield* Effect.flip(Effect.scoped(Layer.build(storage)))
      assert.deepStrictEqual(
        { ...error },
        { ...new Migrations.SchemaTooNew({ found: 9999, known: Migrations.newestKnown }) }
      )
      assert.include(error.message, "a newer version migrated it")
    })
  )
})
