import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Fixtures from "@satrail/contracts/Fixtures"
import * as Nouns from "@satrail/contracts/Nouns"
import * as Webhooks from "@satrail/contracts/features/webhooks/Records"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Session from "@satrail/features/people/core/Session"
import * as Endpoint from "@satrail/features/webhooks/core/records/Endpoint"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Duty from "@satrail/core/ledger/Duty"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as AuditHead from "@satrail/features/audit/core/AuditHead"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import * as Verification from "@satrail/core/reports/Verification"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { isTurnOf } from "@satrail/testing/Turn"
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import path from "node:path"
import { tamperings } from "../../../test/defences/Tampering.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgClient from "../src/client/PgClient.ts"
import * as Records from "@satrail/service/postgres/Records"
import * as Storage from "@satrail/service/postgres/Storage"

// Roles belong to a whole server, so these tests start their own server.
const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)
const server = "missing" in installation ? undefined : await PostgresServer.start(installation)
afterAll(() => server?.end())

const roles = { application: "satrail_application", owner: "satrail_migration" } as const
type By = keyof typeof roles

const urlOf = (role: string, database: string) => `postgres://${role}@127.0.0.1:${server?.port}/${database}`
const clientAs = (role: string, database: string) =>
  PgClient.layer({ url: Redacted.make(urlOf(role, database)), maxConnections: 4 })
const run = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<object>(text).unprepared)
const as = (role: string, database: string, text: string) =>
  Effect.provide(run(text), clientAs(role, database))

const secret = Layer.succeed(
  Audit.Signing,
  Audit.signer(Redacted.make("a secret that the database does not have"))
)

/** The service's storage, with its audit log. */
const service = (database: string) => {
  const storage = Storage.layer({ url: Redacted.make(urlOf(roles.application, database)) })
  return Layer.provideMerge(Audit.layerJournal, Layer.provideMerge(storage, secret))
}

const linked = Effect.repeat(AuditLog.link, { while: (count) => count > 0 })

const acting = {
  actor: "key",
  actor_id: "k",
  actor_name: "till",
  verb: "confirm",
  address: "",
  request_id: "r"
} as const

/** An unsigned entry. */
const confirmed: Audit.Draft = {
  companyId: CompanyId.operator,
  atMillis: 7,
  body: Audit.bodyOf(acting, { subject: "s", outcome: "done", count: 1 })
}

/** A company with a balance, a key, an operator's token, a webhook endpoint and changed limits. */
const lived = Effect.gen(function* () {
  const companyId = yield* Fixtures.open
  const journal = yield* Journal
  const preimage = yield* Fixtures.preimage
  const invoice = yield* Fixtures.created(companyId, 10, { paymentHash: Preimage.hashOf(preimage) })
  yield* journal.commit(yield* Fixtures.payment(invoice, 10, preimage))
  const key = yield* Fixtures.apiKey(companyId, { scopes: ["read"] })
  const { secretHash } = OperatorToken.generate(yield* Entropy)
  const token = {
    id: yield* Id.make,
    companyId: CompanyId.operator,
    name: "Ada",
    secretHash,
    scopes: ["read"],
    createdAtMillis: 1,
    revokedAtMillis: null
  } as const
  yield* journal.commit(ApiKey.issued(key))
  yield* journal.commit(OperatorToken.issued(token))
  yield* journal.commit(Endpoint.created(yield* Webhooks.endpoint(companyId)))
  // A record of every type.
  for (const { create } of Object.values(Nouns.declared))
    yield* Fixtures.verdict(yield* create(yield* Fixtures.companyWith(100)))
  const nowMillis = yield* Clock.currentTimeMillis
  const session = {
    id: yield* Id.make,
    companyId,
    holder: "key",
    holderId: key.id,
    slot: 1,
    secretHash,
    createdAtMillis: nowMillis
  } as const
  const { lifeMillis } = Session
  yield* journal.commit(
    Session.started({
      ...session,
      expiresAtMillis: nowMillis + lifeMillis,
      steppedUpAtMillis: null,
      endedAtMillis: null
    })
  )
  yield* linked
  for (const [daySats, atMillis] of [
    [1000, 7_200_000],
    [2000, 10_800_000]
  ] as const)
    yield* journal.commit(
      Company.limited(companyId, { daySats }, invoice.createdAtMillis + atMillis, {
        ...(yield* Fixtures.company),
        id: companyId
      })
    )
  yield* linked
})

/** Fills the tables that no record type declares. */
const others = `
insert into satrail.refunds (id, company_id, deposit_id, amount, description, metadata, status, withdrawal_id, created_at_millis, updated_at_millis)
  select gen_random_uuid(), company_id, id, 1000, '', '{}', 'completed', gen_random_uuid(), 1, 1 from satrail.deposits limit 1;
update satrail.deposits set refunded = 1000 where id in (select deposit_id from satrail.refunds);
insert into satrail.deposits_labels (company_id, label, id) select company_id, 1, id from satrail.deposits limit 1;
insert into satrail.domains (domain, company_id, verified_at_millis) select 'pay.example', id, 1 from satrail.companies limit 1;
insert into satrail.spent select id, 'company', 'day', 0, 1, 1000, 1 from satrail.companies limit 1;
insert into satrail.told_events select 1, id, '' from satrail.companies limit 1;
insert into satrail.forgotten_events select id, 0 from satrail.companies limit 1;
insert into satrail.answers values ('owner', 'key', 'fingerprint', '{"status":201}', null);
insert into satrail.processes values (gen_random_uuid(), 0);
insert into satrail.key_ranges values (gen_random_uuid(), 'wallet', 'segwit', 0, 0, 1);
insert into satrail.coins select 'a:0', company_id, id from satrail.withdrawals limit 1;
insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed) values ('b:0', 'wallet', '00', 1, 'segwit', 0, 0, 1);
insert into satrail.candidates (company_id, withdrawal_id, place, tx_id, raw_tx, psbt, network_fee, is_deep)
  select company_id, id, 0, 'tx', '00', '', 0, 0 from satrail.withdrawals limit 1;
`

const prepared = Effect.gen(function* () {
  if ("missing" in installation) return assert.fail(installation.missing)
  yield* as("postgres", "postgres", "create database prepared")
  Client.script(installation, urlOf("postgres", "prepared"), path.join(import.meta.dirname, "../roles.sql"))
  yield* Effect.provide(Migrations.migrate, clientAs(roles.owner, "prepared"))
  yield* as("postgres", "postgres", "create database lived template prepared")
  yield* Effect.provide(lived, service("lived"))
  yield* as(roles.owner, "lived", others)
  // The fixtures settle invoices without their preimages.
  yield* as(
    roles.owner,
    "lived",
    `update satrail.invoices set preimage = encode(sha256(convert_to(id::text, 'UTF8')), 'hex') where status = 'settled';
     update satrail.invoices set payment_hash = encode(sha256(decode(preimage, 'hex')), 'hex') where status = 'settled'`
  )
})
if (server !== undefined) await Effect.runPromise(prepared)

let databases = 0

/** `prepared`: a database without data. `lived`: a database that the service has used. */
const created = Effect.fnUntraced(function* (of: "prepared" | "lived" = "lived") {
  const database = `tampered_${++databases}`
  yield* as("postgres", "postgres", `create database ${database} template ${of}`)
  return database
})

/** The violations that `satrail verify` finds. Each is identified by its record type or its kind. */
const found = (head: string | null = null) =>
  Effect.gen(function* () {
    const faults = new Set<string>()
    yield* AuditVerification.verify(head, ({ kind, record, field, problem }) =>
      Effect.sync(() =>
        faults.add(record === undefined ? kind : `${record} ${problem}${field ? ` ${field}` : ""}`)
      )
    )
    yield* Verification.verify((_, wrong) =>
      Effect.sync(() => wrong.forEach(({ kind }) => faults.add(`books: ${kind}`)))
    )
    return [...faults].toSorted()
  })

const last = "(select max(id) from satrail.audit_entries)"

/** An attempt in a new database. Undefined if the database refuses it. */
const attempted = Effect.fnUntraced(function* (by: By, sql: string, database: string) {
  const outcome = yield* Effect.provide(
    Effect.match(run(sql), { onSuccess: () => "done", onFailure: ({ reason }) => reason._tag }),
    clientAs(roles[by], database)
  )
  if (outcome === "AuthorizationError") return undefined
  assert.strictEqual(outcome, "done", sql)
  return yield* Effect.provide(Effect.andThen(linked, found()), service(database))
})

/** The database of all attempts that are refused or leave no violation, so that few databases are created. */
const unseen = server === undefined ? "" : await Effect.runPromise(created())

/** Columns of every table except the list of migrations, which only their owner changes. */
const columns = Effect.map(
  as(
    roles.owner,
    "lived",
    `select c.table_name as "table", c.column_name as "column", c.data_type as type from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'satrail' and t.table_type = 'BASE TABLE' and c.table_name <> 'migrations' and c.is_identity = 'NO'
     order by 1, c.ordinal_position`
  ),
  Schema.decodeUnknownSync(
    Schema.Array(Schema.Struct({ table: Schema.String, column: Schema.String, type: Schema.String }))
  )
)

/** Malformed values, by the type of the column. */
const malformed: { readonly [type: string]: string } = {
  text: "'malformed'",
  json: "'7'",
  jsonb: "'7'",
  bigint: "-1",
  integer: "-1"
}

describe.skipIf(server === undefined)(
  "tampering with the database (skipped where there is no PostgreSQL)",
  () => {
    it.live("tampering: an untouched database has no violations", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* Effect.provide(found(), service(yield* created())), [])
      })
    )

    it.live(
      "tampering: every table of the database has rows here, and is in a row of the documented table",
      () =>
        Effect.gen(function* () {
          const statements = tamperings.flatMap(({ attempts }) => attempts.map(([sql]) => sql)).join("\n")
          for (const table of new Set((yield* columns).map((one) => one.table))) {
            assert.match(statements, new RegExp(`(?:update|into|from) satrail\\.${table}\\b`))
            assert.lengthOf(yield* as(roles.owner, "lived", `select from satrail.${table} limit 1`), 1, table)
          }
        })
    )

    it.live(
      "tampering: malformed values in every column of every table are violations, and never end a verification",
      () =>
        Effect.gen(function* () {
          const database = yield* created()
          const all = yield* columns
          yield* Effect.gen(function* () {
            for (const { table, column, type } of all) {
              const value = malformed[type]
              if (value === undefined) continue
              // A constraint refuses some values.
              yield* Effect.catchIf(
                run(`update satrail.${table} set ${column} = ${value}`),
                ({ reason }) => reason._tag === "ConstraintError" || reason._tag === "UniqueViolation",
                () => Effect.void
              )
            }
          }).pipe(Effect.provide(clientAs(roles.owner, database)))
          assert.includeMembers(yield* Effect.provide(found(), service(database)), [
            "books: unreadable",
            "changed",
            "companies unknown",
            "end"
          ])
        })
    )

    for (const [index, { what, application, owner, attempts }] of tamperings.entries())
      for (const [by, says] of [
        ["application", application],
        ["owner", owner]
      ] as const)
        it.live.skipIf(!isTurnOf(index, 3))(
          `tampering: ${what}, as the ${by === "owner" ? "tables' owner" : "application's role"}: the result is as documented`,
          () =>
            Effect.forEach(attempts, ([sql, expected]) =>
              Effect.gen(function* () {
                const isUnseen = says === "Refused" || expected.length === 0
                const faults = yield* attempted(by, sql, isUnseen ? unseen : yield* created())
                const outcome = faults === undefined ? "Refused" : faults.length === 0 ? "Not found" : "Found"
                assert.isTrue(says.startsWith(outcome), `${sql}: ${outcome}, ${String(faults)}`)
                if (faults !== undefined) assert.deepStrictEqual(faults, expected, sql)
              })
            )
        )

    /** The head as published in the operator's webhooks. */
    const published = Effect.gen(function* () {
      const head = (yield* (yield* Audit.AuditStore).auditHead) ?? assert.fail("no entry is linked")
      yield* (yield* Journal).commit(Duty.started("audit", 0))
      const [task] = yield* (yield* Tasks).claim({ kind: "audit", nowMillis: 1, leaseMillis: 1, limit: 1 })
      yield* AuditHead.publish(head, fence(task ?? assert.fail("the role is free")))
      const events = yield* (yield* EventStore).eventsOf(CompanyId.operator, 0n, 1000)
      return (
        events.findLast(({ type }) => type === "audit_head.updated")?.subject ??
        assert.fail("nothing was published")
      )
    })

    it.live(
      "tampering: restoring an older end of the log with its signature is detected only with a head published later",
      () =>
        Effect.gen(function* () {
          const database = yield* created()
          yield* Effect.gen(function* () {
            const { auditHead, appendAudit } = yield* Audit.AuditStore
            const older = Audit.textOf((yield* auditHead) ?? assert.fail("no entry is linked"))
            yield* appendAudit([Audit.sealed(confirmed, yield* Audit.Signing, yield* Entropy)])
            yield* linked
            const later = yield* published
            assert.strictEqual(later, Audit.textOf((yield* auditHead) ?? assert.fail("no entry is linked")))
            assert.deepStrictEqual(yield* found(later), [])
            yield* as(
              roles.owner,
              database,
              `delete from satrail.audit_links where entry_id = ${last}; delete from satrail.audit_entries where id = ${last};
           update satrail.cursors set value = '${older}' where source = 'audit head'`
            )
            assert.deepStrictEqual(yield* found(), [])
            assert.deepStrictEqual(yield* found(later), ["head"])
          }).pipe(Effect.provide(service(database)))
        })
    )

    it.live(
      "tampering: verification by a role that may not read the secret columns compares everything else",
      () =>
        Effect.gen(function* () {
          const database = yield* created()
          yield* as(
            roles.owner,
            database,
            `update satrail.api_keys set scopes = '["admin"]', secret_hash = repeat('0', 64)`
          )
          const reader = Layer.provide(Records.layer, clientAs("satrail_reader", database))
          assert.deepStrictEqual(yield* Effect.provide(found(), Layer.merge(reader, secret)), [
            "api_keys differs scopes"
          ])
        })
    )
  }
)
