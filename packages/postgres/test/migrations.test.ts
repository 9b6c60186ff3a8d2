import { assert, describe, it } from "@effect/vitest"
import { companyWith } from "@satrail/contracts/Fixtures"
import { auditAll, has } from "@satrail/contracts/Ledger"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Feed from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import path from "node:path"
import * as Migration0001 from "../src/migrations/Migration0001.ts"
import * as Migrations from "../src/migrations/Migrations.ts"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "../src/Storage.ts"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"

const fixture = readFileSync(path.join(import.meta.dirname, "at0001.sql"), "utf8")

/** A database as the first version left it. */
const atFirst = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const script of ["create schema satrail", Migration0001.script, fixture]) yield* sql.unsafe(script).unprepared
})

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Every row of every table, each as PostgreSQL itself writes it. */
const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'satrail' and table_name <> 'migrations' order by 1`
  const rows = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql.unsafe<{ readonly row: string }>(`select to_jsonb(t)::text as row from satrail.${name} t order by 1`),
      (all) => [name, all.map(({ row }): Rows[number] => JSON.parse(row))] as const
    )
  )
  return Object.fromEntries(rows)
})

/** What a migration adds to the rows that were there: by table and column, for every row. */
const added: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  tasks: { kind: "withdrawal", lane: "", holder: null },
  lightning_addresses: { min_sendable: null, max_sendable: null, success_message: null },
  invoices: {
    callback: null,
    rate_at_millis: null,
    min_amount: null,
    max_amount: null,
    canceled_at_millis: null,
    checkout_id: null,
    api_key_id: null,
    hold: null,
    held: null,
    held_until_millis: null
  },
  withdrawals: {
    rate_at_millis: null,
    success_action: null,
    follows: null,
    refund_id: null,
    counted: null,
    approval: null,
    approval_asked_by: null,
    approval_by: null,
    approval_expires_at_millis: null,
    approval_at_millis: null,
    reported_hash: null
  },
  deposits: { refunded: 0, refund_id: null, checkout_id: null },
  on_chain_addresses: { checkout_id: null },
  balances: { frozen: false, fees_revision: 0 },
  companies: { limits: null, frozen: null, loosening: null, fees: null, fees_revision: 0 },
  api_keys: {
    limits: null,
    spends_as: null,
    allowed_from: null,
    loosening: null,
    approval: null,
    approved_by: null,
    approved_at_millis: null
  },
  domains: { shown_by: "operator", checked_at_millis: 1_700_000_000_100, lost_at_millis: null }
}

/** What it adds to some: the metadata of what a deposit paid, of those that paid something with metadata. */
const addedTo = (table: string, id: unknown): Readonly<Record<string, unknown>> => {
  if (table !== "deposits") return {}
  const [order, shelf] = ["01900000-0000-7000-8000-000000000006", "01900000-0000-7000-8000-000000000008"]
  return { metadata: id === order ? { order: "7" } : id === shelf ? { shelf: "3" } : null }
}

const acme = CompanyId.make("01900000-0000-7000-8000-00000000000a")
const böhm = CompanyId.make("01900000-0000-7000-8000-00000000000b")
const nowMillis = 1_700_000_100_000

const suite = (name: string, client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
  describe(`a database of the first version (${name})`, () => {
    it.live("migration: a database of the first version is migrated with all its rows, and its jobs go on", () =>
      Effect.gen(function* () {
        yield* atFirst
        const before = yield* everything
        for (const [table, rows] of Object.entries(before)) assert.isNotEmpty(rows, `the fixture has nothing in ${table}`)
        yield* Migrations.migrate
        const after = yield* everything
        for (const [table, rows] of Object.entries(before)) {
          const expected = rows.map((row) => ({ ...row, ...added[table], ...addedTo(table, row["id"]) }))
          assert.sameDeepMembers([...(after[table] ?? [])], expected, table)
        }
        yield* Effect.gen(function* () {
          const [records, tasks, journal] = [yield* Records, yield* Tasks, yield* Journal]
          yield* auditAll
          const claimed = yield* tasks.claim({ kind: Withdrawal.taskKind, nowMillis, leaseMillis: 1000, limit: 10 })
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

    it.live("migration: what happened before events were told is told, once and in order, and nothing of it is lost", () =>
      Effect.gen(function* () {
        yield* atFirst
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(
          `insert into satrail.events (id, company_id, type, subject, at_millis)
          select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + n, '${acme}',
            case n % 2 when 0 then 'invoice.created' else 'withdrawal.requested' end,
            ('01900000-0000-7000-8000-0000000000' || case n % 2 when 0 then '03' else '10' end)::uuid, 1700000000900 + n
          from generate_series(1, 1000) n`
        ).unprepared
        const committed = yield* sql.unsafe<{ readonly id: string; readonly type: string }>(
          "select id::text as id, type from satrail.events order by satrail.events.id"
        )
        yield* Migrations.migrate
        const told = yield* Effect.gen(function* () {
          const feed = yield* Feed.Feed
          const all: Array<string> = []
          for (let after = Notice.first; ;) {
            const { items, next } = yield* feed.page({ companyId: acme, after, limit: 300 }, ({ type }) => type)
            if (items.length === 0) return all
            all.push(...items.map(({ place, body }) => `${place.event} ${body}`))
            after = next
          }
        }).pipe(Effect.provide(Layer.provideMerge(Feed.layer, Storage.layerClient())))
        const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
          "invoice.created": ["invoice.created"],
          "invoice.settled": ["deposit.lightning.completed", "invoice.settled"],
          "withdrawal.requested": ["withdrawal.lightning.pending"]
        }
        assert.deepStrictEqual(
          told,
          committed.flatMap(({ id, type }) => (expected[type] ?? []).map((one) => `${id} ${one}`))
        )
      }).pipe(Effect.provide(client))
    )

    it.live("migration: a stored response with a voucher's link is emptied and keeps its key; all others stay", () =>
      Effect.gen(function* () {
        yield* atFirst
        const sql = yield* SqlClient.SqlClient
        const [lnurlw, answers] = [
          `lnurlw://pay.example.com/lnurlw?k1=${"ab".repeat(32)}`,
          "select key, answer from satrail.answers order by key"
        ]
        const quoting = JSON.stringify({ status: 201, message: "Invoice", data: { description: `{"lnurlw":"${lnurlw}"}` } })
        const voucher = JSON.stringify({ status: 201, message: "Voucher created", data: { id: acme, lnurl: "LNURL1XYZ", lnurlw } })
        yield* sql`insert into satrail.answers ${sql.insert([
          { owner: acme, key: "quoting", fingerprint: "f1", answer: quoting },
          { owner: acme, key: "voucher", fingerprint: "f2", answer: voucher }
        ])}`
        const before = yield* sql.unsafe<{ readonly key: string; readonly answer: string }>(answers)
        yield* Migrations.migrate
        assert.deepStrictEqual(
          yield* sql.unsafe<{ readonly key: string; readonly answer: string }>(answers),
          before.map(({ key, answer }) => ({ key, answer: key === "voucher" ? "" : answer }))
        )
      }).pipe(Effect.provide(client))
    )

    for (const [whose, paidInside] of [
      ["an outside payer, before the withdrawal that had claimed it", false],
      ["the withdrawal that had claimed it, from inside", true]
    ] as const) {
      it.live(`migration: an invoice is known to have been paid by ${whose}`, () =>
        Effect.gen(function* () {
          yield* atFirst
          const sql = yield* SqlClient.SqlClient
          const [settled, transferred] = ["01900000-0000-7000-8000-000000000003", "01900000-0000-7000-8000-000000000009"]
          yield* sql`update satrail.invoices set claimed_by = ${transferred} where id = ${settled}`
          if (paidInside) yield* sql`update satrail.withdrawals set payment_hash = ${"a1".repeat(32)} where id = ${transferred}`
          yield* Migrations.migrate
          assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* sql`select claimed_by from satrail.invoices where id = ${settled}`, [
            { claimed_by: paidInside ? transferred : null }
          ])
        }).pipe(Effect.provide(client))
      )
    }
  })

suite("pglite", Embedded.layer)

describe.skipIf(Database.server === undefined)("on a server (skipped where there is none)", () => {
  suite("postgres", Database.layer)

  it.live("migration: eight processes that start at once: one migrates, and all start", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const first = yield* Layer.build(PgClient.layer({ url }))
      yield* Effect.provide(atFirst, first)
      yield* Effect.all(
        Array.from({ length: 8 }, () => Layer.build(Storage.layer({ url, maxConnections: 2 }))),
        { concurrency: "unbounded" }
      )
      const [row] = yield* Context.get(first, SqlClient.SqlClient)`select max(migration_id) as newest from satrail.migrations`
      assert.deepStrictEqual(row, { newest: Migrations.newestKnown })
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
        for (const right of ["usage on schema satrail", "select, insert, update, delete on all tables in schema satrail"])
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
