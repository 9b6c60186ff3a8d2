import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Fixtures from "@satrail/contracts/Fixtures"
import * as Webhooks from "@satrail/contracts/features/webhooks/Records"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Endpoint from "@satrail/core/features/webhooks/records/Endpoint"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Duty from "@satrail/core/ledger/Duty"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as AuditHead from "@satrail/core/features/audit/AuditHead"
import * as AuditLog from "@satrail/core/features/audit/AuditLog"
import * as AuditVerification from "@satrail/core/features/audit/AuditVerification"
import * as Verification from "@satrail/core/reports/Verification"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import path from "node:path"
import { tamperings } from "../../../test/defences/Tampering.ts"
import * as Migrations from "../src/migrations/Migrations.ts"
import * as PgClient from "../src/client/PgClient.ts"
import * as Records from "../src/Records.ts"
import * as Storage from "../src/Storage.ts"

// Roles belong to a whole server, so these tests start their own server.
const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)
const server = "missing" in installation ? undefined : await PostgresServer.start(installation)
afterAll(() => server?.end())

const roles = { application: "satrail_application", owner: "satrail_migration" } as const
type By = keyof typeof roles

const urlOf = (role: string, database: string) => `postgres://${role}@127.0.0.1:${server?.port}/${database}`
const clientAs = (role: string, database: string) => PgClient.layer({ url: Redacted.make(urlOf(role, database)), maxConnections: 4 })
const run = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<object>(text).unprepared)
const as = (role: string, database: string, text: string) => Effect.provide(run(text), clientAs(role, database))

const secret = Layer.succeed(Audit.Signing, Audit.signer(Redacted.make("a secret that the database does not have")))

/** The service's storage, with its audit log. */
const service = (database: string) => {
  const storage = Storage.layer({ url: Redacted.make(urlOf(roles.application, database)) })
  return Layer.provideMerge(Audit.layerJournal, Layer.provideMerge(storage, secret))
}

const linked = Effect.repeat(AuditLog.link, { while: (count) => count > 0 })

const acting = { actor: "key", actor_id: "k", actor_name: "till", verb: "confirm", address: "", request_id: "r" } as const

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
  yield* linked
  for (const [daySats, atMillis] of [
    [1000, 7_200_000],
    [2000, 10_800_000]
  ] as const)
    yield* journal.commit(
      Company.limited(companyId, { daySats }, invoice.createdAtMillis + atMillis, { ...(yield* Fixtures.company), id: companyId })
    )
  yield* linked
})

const prepared = Effect.gen(function* () {
  if ("missing" in installation) return assert.fail(installation.missing)
  yield* as("postgres", "postgres", "create database prepared")
  Client.script(installation, urlOf("postgres", "prepared"), path.join(import.meta.dirname, "../roles.sql"))
  yield* Effect.provide(Migrations.migrate, clientAs(roles.owner, "prepared"))
  yield* as("postgres", "postgres", "create database lived template prepared")
  yield* Effect.provide(lived, service("lived"))
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
      Effect.sync(() => faults.add(record === undefined ? kind : `${record} ${problem}${field ? ` ${field}` : ""}`))
    )
    yield* Verification.verify((_, wrong) => Effect.sync(() => wrong.forEach(({ kind }) => faults.add(`books: ${kind}`))))
    return [...faults].toSorted()
  })

const last = "(select max(id) from satrail.audit_entries)"
const copied = (of: string) => `insert into satrail.audit_entries (id, company_id, at_millis, body)
  select ${last} + 1, company_id, at_millis, ${of} from satrail.audit_entries order by id limit 1`
const raised = `update satrail.companies set limits = '{"daySats":1000000}'`

/** An attempt for each row of the documented table, and the violation found if the database does not refuse it. */
const attempts: ReadonlyArray<readonly [row: string, sql: string, found: ReadonlyArray<string>]> = [
  [
    "audit entries changed",
    "update satrail.audit_entries set body = replace(body, ':2000', ':9000')",
    ["changed", "companies differs limits", "unsigned"]
  ],
  [
    "audit entries removed at the end",
    `delete from satrail.audit_links where entry_id = ${last}; delete from satrail.audit_entries where id = ${last}`,
    ["companies differs limits", "end"]
  ],
  [
    "audit entries removed in the middle",
    "delete from satrail.audit_entries where id = (select id from satrail.audit_entries order by id offset 1 limit 1)",
    ["api_keys unknown", "removed"]
  ],
  [
    "all audit entries removed",
    "delete from satrail.audit_links; delete from satrail.audit_entries",
    ["api_keys unknown", "companies unknown", "end", "operator_tokens unknown", "webhook_endpoints unknown"]
  ],
  ["the links removed", "delete from satrail.audit_links", ["end", "unlinked"]],
  ["an audit entry appended", copied("replace(body, 'service', 'Eve')"), ["unsigned"]],
  ["an audit entry appended", copied("'{}'"), ["unsigned"]],
  ["an audit entry appended", copied("body"), ["inserted"]],
  ["a key's hash or scopes changed", `update satrail.api_keys set scopes = '["admin"]'`, ["api_keys differs scopes"]],
  ["a key's hash or scopes changed", "update satrail.api_keys set secret_hash = repeat('0', 64)", ["api_keys differs secret_hash"]],
  ["a key's hash or scopes changed", "update satrail.api_keys set id = reverse(id)", ["api_keys gone", "api_keys unknown"]],
  [
    "an operator token inserted",
    `insert into satrail.operator_tokens (id, company_id, name, secret_hash, scopes, created_at_millis)
     select gen_random_uuid(), company_id, name, repeat('0', 64), '["all"]', 1 from satrail.operator_tokens`,
    ["operator_tokens unknown"]
  ],
  ["a limit raised", raised, ["companies differs limits"]],
  ["a limit raised", `update satrail.companies set limits = '{"daySats":1000}'`, ["companies differs limits"]],
  [
    "a company's fees replaced by malformed data",
    `update satrail.companies set fees = '{"internal":7}'`,
    ["books: unreadable", "companies differs fees"]
  ],
  ["a webhook URL changed", "update satrail.webhook_endpoints set url = 'https://eve.example/'", ["webhook_endpoints differs url"]],
  ["a ledger posting changed", "update satrail.entries set amount = amount + 1000", ["books: posted", "books: transfer"]]
]

/** An attempt in a new database. Undefined if the database refuses it. */
const attempted = Effect.fnUntraced(function* (by: By, sql: string) {
  const database = yield* created()
  return yield* Effect.gen(function* () {
    assert.deepStrictEqual(yield* found(), [])
    const said = yield* Effect.provide(
      Effect.match(run(sql), { onSuccess: () => "done", onFailure: ({ reason }) => reason._tag }),
      clientAs(roles[by], database)
    )
    if (said === "AuthorizationError") return undefined
    assert.strictEqual(said, "done", sql)
    yield* linked
    return yield* found()
  }).pipe(Effect.provide(service(database)))
})

describe.skipIf(server === undefined)("tampering with the database (skipped where there is no PostgreSQL)", () => {
  it("tampering: every row of the documented table is tested", () => {
    assert.sameMembers(
      [...new Set(attempts.map(([row]) => row))],
      tamperings.map(({ what }) => what)
    )
  })

  for (const { what, application, owner } of tamperings)
    for (const [by, says] of [
      ["application", application],
      ["owner", owner]
    ] as const)
      it.live(`tampering: ${what}, as the ${by === "owner" ? "tables' owner" : "application's role"}: the result is as documented`, () =>
        Effect.forEach(
          attempts.filter(([row]) => row === what),
          ([, sql, expected]) =>
            Effect.gen(function* () {
              const faults = yield* attempted(by, sql)
              assert.strictEqual(says.startsWith("Refused") ? "refused" : "found", faults === undefined ? "refused" : "found", sql)
              if (faults !== undefined) assert.deepStrictEqual(faults, expected, sql)
            })
        )
      )

  /** The head as published in the operator's webhooks. */
  const published = Effect.gen(function* () {
    const head = (yield* (yield* Audit.AuditStore).auditHead) ?? assert.fail("no entry is linked")
    yield* (yield* Journal).commit(Duty.begun("audit", 0))
    const [task] = yield* (yield* Tasks).claim({ kind: "audit", nowMillis: 1, leaseMillis: 1, limit: 1 })
    yield* AuditHead.publish(head, fence(task ?? assert.fail("the role is free")))
    const events = yield* (yield* EventStore).eventsOf(CompanyId.operator, 0n, 1000)
    return events.findLast(({ type }) => type === "audit_head.updated")?.subject ?? assert.fail("nothing was published")
  })

  it.live("tampering: restoring an older end of the log with its signature is detected only with a head published later", () =>
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

  it.live("tampering: verification by a role that may not read the secret columns compares everything else", () =>
    Effect.gen(function* () {
      const database = yield* created()
      yield* as(roles.owner, database, `update satrail.api_keys set scopes = '["admin"]', secret_hash = repeat('0', 64)`)
      const reader = Layer.provide(Records.layer, clientAs("satrail_reader", database))
      assert.deepStrictEqual(yield* Effect.provide(found(), Layer.merge(reader, secret)), ["api_keys differs scopes"])
    })
  )
})
