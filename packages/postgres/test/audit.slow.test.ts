import { assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Audit from "@satrail/core/ledger/Audit"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import { eventually } from "@satrail/contracts/Eventually"
import { Clock, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgClient from "../src/client/PgClient.ts"
import * as Records from "@satrail/service/postgres/Records"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"
import { shared } from "./Shared.ts"

const [one, other] = ["one", "other"].map((name) => CompanyId.make(Id.named(name)))
if (one === undefined || other === undefined) throw new Error("two companies")
const acting: Audit.Acting = {
  actor: "key",
  actor_id: "k",
  actor_name: "till",
  verb: "confirm",
  address: "",
  request_id: "r"
}
const draft = (companyId: CompanyId.CompanyId, subject: string): Audit.Draft => {
  const body = Audit.bodyOf(acting, { subject, outcome: "done", count: 1 })
  return Audit.sealed({ companyId, atMillis: 7, body }, undefined, () =>
    Buffer.from(`${companyId}${subject}`.slice(-16))
  )
}

const layerOver = <E>(client: Layer.Layer<SqlClient.SqlClient, E>) =>
  Layer.provideMerge(Records.layer, Layer.provideMerge(Layer.effectDiscard(Migrations.migrate), client))
const layer = await shared(layerOver(Embedded.layer))
const run = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly id: string }>(text).unprepared)

/** Replaces the log with six linked entries of two companies, then two more after the head. Returns the first head. */
const written = Effect.gen(function* () {
  yield* run("truncate satrail.audit_entries, satrail.audit_links")
  yield* run("delete from satrail.cursors where source = 'audit head'")
  const { appendAudit, auditHeads } = yield* Audit.AuditStore
  for (const subject of ["a", "b", "c"]) yield* appendAudit([draft(one, subject), draft(other, subject)])
  yield* AuditLog.link
  const [head] = yield* auditHeads([])
  for (const subject of ["d", "e"]) yield* appendAudit([draft(one, subject)])
  yield* AuditLog.link
  return AuditLog.headText(head ?? assert.fail("no entry is linked"))
})

/** The faults that `satrail verify` finds. */
const found = Effect.fnUntraced(function* (head: string | null) {
  const faults: Array<string> = []
  yield* AuditVerification.verify(head, ({ kind }) => Effect.sync(() => faults.push(kind)))
  return [...new Set(faults)]
})

const second = "(select entry_id from satrail.audit_links order by entry_id offset 1 limit 1)"
const newest = "(select max(entry_id) from satrail.audit_links)"

/** Forgeries that the database's owner can commit, and the faults found. */
const forgeries: ReadonlyArray<readonly [what: string, sql: string, found: ReadonlyArray<string>]> = [
  [
    "a row that was changed",
    `update satrail.audit_entries set body = replace(body, 'till', 'Eve') where id = ${second}`,
    ["changed"]
  ],
  [
    "a row whose time was changed",
    `update satrail.audit_entries set at_millis = 8 where id = ${second}`,
    ["changed"]
  ],
  [
    "a row that was moved to another company",
    `update satrail.audit_entries set company_id = '${one}' where id = ${second}`,
    ["changed"]
  ],
  ["a row that was removed", `delete from satrail.audit_entries where id = ${second}`, ["removed"]],
  [
    "a row that was removed with its link",
    `with gone as (select ${second} as id), l as (delete from satrail.audit_links where entry_id in (select id from gone))
     delete from satrail.audit_entries where id in (select id from gone)`,
    ["changed", "chain", "end"]
  ],
  [
    "a row that was inserted among the others",
    `insert into satrail.audit_entries select ${second} + 1, company_id, at_millis, body from satrail.audit_entries where id = ${second}`,
    ["inserted"]
  ],
  [
    "a row that was inserted with a future id",
    `insert into satrail.audit_entries select ${newest} + 4096000000, company_id, at_millis, body from satrail.audit_entries where id = ${second}`,
    ["inserted"]
  ],
  [
    "a row that was inserted with a link",
    `with e as (insert into satrail.audit_entries select ${second} + 1, company_id, at_millis, body from satrail.audit_entries where id = ${second} returning *)
     insert into satrail.audit_links select id, company_id, 2, repeat('0', 64), repeat('0', 64), 2 from e`,
    ["changed", "chain", "inserted", "end"]
  ]
]

describe("the audit log in a database", () => {
  for (const [what, sql, kinds] of forgeries)
    it.live(`audit: ${what} is detected`, () =>
      Effect.gen(function* () {
        const head = yield* written
        assert.deepStrictEqual(yield* found(head), [])
        yield* run(sql)
        assert.sameMembers(yield* found(null), [...kinds])
      }).pipe(Effect.provide(layer))
    )

  it.live(
    "audit: removing the last entries with their links is detected, even after later entries are written",
    () =>
      Effect.gen(function* () {
        yield* written
        yield* run(
          "delete from satrail.audit_links where entry_id > (select entry_id from satrail.audit_links order by entry_id desc offset 1 limit 1)"
        )
        yield* run(
          `delete from satrail.audit_entries where id > (select max(entry_id) from satrail.audit_links)`
        )
        assert.deepStrictEqual(yield* found(null), ["end"])
        yield* (yield* Audit.AuditStore).appendAudit([draft(one, "later")])
        yield* AuditLog.link
        assert.includeMembers(yield* found(null), ["end"])
      }).pipe(Effect.provide(layer))
  )

  it.live("audit: removing all entries or all links is detected by the stored head", () =>
    Effect.gen(function* () {
      yield* written
      yield* run("delete from satrail.audit_links")
      assert.sameMembers(yield* found(null), ["end", "unlinked"])
      yield* AuditLog.link
      assert.sameMembers(yield* found(null), ["end", "unlinked"])
      yield* run("delete from satrail.audit_entries")
      assert.sameMembers(yield* found(null), ["end"])
    }).pipe(Effect.provide(layer))
  )

  it.live("audit: an unlinked entry is a fault once it is older than a minute", () =>
    Effect.gen(function* () {
      const { appendAudit } = yield* Audit.AuditStore
      yield* written
      const atMillis = yield* Clock.currentTimeMillis
      yield* appendAudit([{ ...draft(one, "young"), atMillis }])
      assert.deepStrictEqual(yield* found(null), [])
      yield* appendAudit([{ ...draft(one, "old"), atMillis: atMillis - AuditLog.unlinkedMillis - 1000 }])
      assert.deepStrictEqual(yield* found(null), ["unlinked"])
    }).pipe(Effect.provide(layer))
  )

  it.live(
    "audit: a rewritten log whose new head is stored without the secret is detected with the secret",
    () =>
      Effect.gen(function* () {
        yield* written
        yield* run("delete from satrail.cursors where source = 'audit head'")
        yield* run("delete from satrail.audit_links")
        yield* run("delete from satrail.audit_entries where id > (select min(id) from satrail.audit_entries)")
        yield* AuditLog.link
        assert.deepStrictEqual(yield* found(null), [])
        assert.deepStrictEqual(
          yield* Effect.provideService(found(null), Audit.Signing, Audit.signer(Redacted.make("secret"))),
          ["unsigned", "end"]
        )
      }).pipe(Effect.provide(layer))
  )

  it.live("audit: rewriting the log together with its head is detected by a head stored elsewhere", () =>
    Effect.gen(function* () {
      const { appendAudit, auditHead } = yield* Audit.AuditStore
      const head = yield* written
      const logged = Audit.textOf((yield* auditHead) ?? assert.fail("no entry is linked"))
      assert.deepStrictEqual(yield* found(logged), [])
      yield* run("delete from satrail.audit_links")
      yield* run("delete from satrail.audit_entries where id > (select min(id) from satrail.audit_entries)")
      yield* run("delete from satrail.cursors where source = 'audit head'")
      yield* appendAudit([draft(one, "something else")])
      yield* AuditLog.link
      assert.deepStrictEqual(yield* found(null), [])
      for (const kept of [head, logged, "no head"]) assert.deepStrictEqual(yield* found(kept), ["head"])
    }).pipe(Effect.provide(layer))
  )
})

describe.skipIf(Database.server === undefined)(
  "the audit log on a server (skipped where there is none)",
  () => {
    it.live(
      "audit: an entry that has a lower id but is committed later is linked first, without a false alarm",
      () =>
        Effect.gen(function* () {
          const url = yield* Database.make
          const [storage, other] = [
            yield* Layer.build(layerOver(PgClient.layer({ url }))),
            yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
          ]
          const [written, committed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          yield* Effect.gen(function* () {
            const store = yield* Audit.AuditStore
            // Forked in the scope, so that a failure below ends the transaction before its pool closes.
            const slow = yield* Effect.forkScoped(
              Effect.flatMap(SqlClient.SqlClient, (sql) =>
                sql.withTransaction(
                  Effect.gen(function* () {
                    const { companyId, atMillis, body } = draft(one, "earlier")
                    yield* run(`
                  insert into satrail.audit_entries (id, company_id, at_millis, body)
                  select (pg_current_xact_id()::text::bigint - transactions) * 4096, '${companyId}', ${atMillis}, '${body}' from satrail.epoch`)
                    yield* Deferred.succeed(written, undefined)
                    yield* Deferred.await(committed)
                  })
                )
              ).pipe(Effect.provideContext(other))
            )
            yield* Deferred.await(written)
            yield* store.appendAudit([draft(one, "later")])
            yield* AuditLog.link
            assert.deepStrictEqual(yield* store.auditChain(0n, 10), [])
            yield* Deferred.succeed(committed, undefined)
            yield* Fiber.join(slow)
            // Another test's transaction may be open on the same server.
            const chain = yield* eventually(
              Effect.andThen(AuditLog.link, store.auditChain(0n, 10)),
              ({ length }) => length === 2
            )
            assert.deepStrictEqual(
              chain.map(({ entry }) => entry?.body),
              ["earlier", "later"].map((subject) => draft(one, subject).body)
            )
            assert.deepStrictEqual(yield* found(null), [])
          }).pipe(Effect.provideContext(storage))
        }).pipe(Effect.scoped)
    )
  }
)
