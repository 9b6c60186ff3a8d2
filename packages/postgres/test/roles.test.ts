import { assert, describe, it } from "@effect/vitest"
import { CompanyId } from "@satrail/core/base/CompanyId"
import * as Feature from "@satrail/core/ledger/Feature"
import { Features } from "@satrail/core/ledger/Features"
import * as Noun from "@satrail/core/ledger/Noun"
import { all as features } from "@satrail/service/features/core"
import { Effect, Layer, Redacted, Schema } from "effect"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import * as Nouns from "@satrail/service/core/Nouns"
import * as StoreFeature from "../src/client/Feature.ts"
import * as PgClient from "../src/client/PgClient.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import {
  as,
  clientAs,
  installation,
  migrated,
  prepared,
  type Role,
  rolesFile,
  run,
  server,
  start,
  urlOf
} from "./Roles.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Table from "../src/statements/Table.ts"

/** The error when the service starts with insufficient privileges. */
const refusedStart = (role: Role, database: string) =>
  Effect.map(Effect.flip(start(role, database)), (error) =>
    error._tag === "RoleMayNot" ? error : assert.fail(`expected a privilege error, got ${error._tag}`)
  )

/** Checks that the database refuses each statement for lack of privileges and no other reason. */
const mayNot = (role: Role, database: string, statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const said = yield* Effect.forEach(statements, (text) =>
      as(
        role,
        database
      )(
        Effect.match(run(text), {
          onSuccess: () => `done: ${text}`,
          onFailure: ({ reason }) => (reason._tag === "AuthorizationError" ? "" : `${reason._tag}: ${text}`)
        })
      )
    )
    assert.deepStrictEqual(
      said.filter((word) => word !== ""),
      []
    )
  })

describe.skipIf(server === undefined)("least rights (skipped where there is no PostgreSQL)", () => {
  it.live(
    "roles: a provider's administrator, who is not a superuser, can run roles.sql, and run it again",
    () =>
      Effect.gen(function* () {
        const found = installation
        if ("missing" in found) return
        // The administrator creates the roles, so they must not exist yet.
        const { url, port } = yield* Effect.acquireRelease(
          Effect.promise(() => PostgresServer.start(found)),
          ({ end }) => Effect.promise(end)
        )
        const clientOf = (role: string, database: string) =>
          PgClient.layer({ url: Redacted.make(`postgres://${role}@127.0.0.1:${port}/${database}`) })
        yield* Effect.provide(
          run("create role administrator login CREATEROLE CREATEDB"),
          PgClient.layer({ url: Redacted.make(url) })
        )
        yield* Effect.provide(run("create database money"), clientOf("administrator", "postgres"))
        for (const _ of [1, 2])
          Client.script(found, `postgres://administrator@127.0.0.1:${port}/money`, rolesFile)
        yield* Effect.provide(Migrations.migrate, clientOf("satrail_migration", "money"))
        yield* Effect.scoped(
          Layer.build(Layer.provide(Storage.layerClient(), clientOf("satrail_application", "money")))
        )
      })
  )

  it.live(
    "roles: the application cannot start before `satrail migrate`; the error says so, and nothing is created",
    () =>
      Effect.gen(function* () {
        const database = yield* prepared
        const { message } = yield* refusedStart("satrail_application", database)
        for (const words of ["permission denied", "Run `satrail migrate`"]) assert.include(message, words)
        const tables = yield* as(
          "postgres",
          database
        )(run("select from pg_tables where schemaname = 'satrail'"))
        assert.strictEqual(tables.length, 0)
      })
  )

  it.live(
    "roles: `satrail migrate` creates the tables and grants the privileges, and then the application starts",
    () =>
      Effect.gen(function* () {
        const database = yield* prepared
        const { before, now } = yield* as("satrail_migration", database)(Migrations.migrate)
        assert.strictEqual(before, 0)
        assert.deepStrictEqual(yield* as("satrail_migration", database)(Migrations.migrate), {
          before: now,
          now
        })
        yield* start("satrail_application", database)
      })
  )

  it.live(
    "roles: `migrate` creates a missing table of the program's own feature, and the application can change only its moving fields and the reader see only its readable columns",
    () =>
      Effect.gen(function* () {
        const database = yield* prepared
        const box = Noun.make(
          "boxes",
          Schema.Struct({ id: Noun.Id, companyId: CompanyId, label: Schema.String, status: Schema.String }),
          {
            moving: ["status"]
          }
        )
        const tables =
          "create table if not exists satrail.boxes (company_id uuid, id uuid, label text, status text, primary key (company_id, id))"
        const own = Layer.merge(
          Layer.succeed(Features, [...features, Feature.make({ name: "boxes", nouns: [box] })]),
          Layer.succeed(StoreFeature.Own, [{ tables, readable: { boxes: "id, status" } }])
        )
        yield* as("satrail_migration", database)(Migrations.migrate)
        const { message } = yield* Effect.provide(refusedStart("satrail_application", database), own)
        assert.include(message, "satrail migrate")
        yield* Effect.provide(as("satrail_migration", database)(Migrations.migrate), own)
        yield* Effect.provide(start("satrail_application", database), own)
        yield* as(
          "satrail_application",
          database
        )(run("insert into satrail.boxes select gen_random_uuid(), gen_random_uuid(), 'a', 'locked'"))
        yield* as("satrail_application", database)(run("update satrail.boxes set status = 'open'"))
        yield* mayNot("satrail_application", database, [
          "update satrail.boxes set label = 'b'",
          "delete from satrail.boxes"
        ])
        yield* as("satrail_reader", database)(run("select id, status from satrail.boxes"))
        yield* mayNot("satrail_reader", database, ["select label from satrail.boxes"])
      })
  )

  it.live("roles: `satrail migrate` leaves the privileges on tables that it does not know", () =>
    Effect.gen(function* () {
      const database = yield* migrated
      yield* as(
        "satrail_migration",
        database
      )(
        run(`create table satrail.boxes (id int, secret text);
          grant select, insert, update (id) on satrail.boxes to satrail_application;
          grant select (id) on satrail.boxes to satrail_reader`)
      )
      // This program does not have that feature.
      yield* as("satrail_migration", database)(Migrations.migrate)
      yield* as("satrail_application", database)(run("insert into satrail.boxes values (1, 'a')"))
      yield* as("satrail_application", database)(run("update satrail.boxes set id = 2"))
      yield* as("satrail_reader", database)(run("select id from satrail.boxes"))
      yield* mayNot("satrail_reader", database, ["select secret from satrail.boxes"])
    })
  )

  it.live(
    "roles: roles created after the tables get their privileges from the next `satrail migrate`; roles.sql can be run again",
    () =>
      Effect.gen(function* () {
        if ("missing" in installation) return
        const database = yield* migrated
        yield* as(
          "satrail_migration",
          database
        )(run("revoke all on all tables in schema satrail from satrail_application"))
        Client.script(installation, urlOf("postgres", database), rolesFile)
        assert.isNull((yield* refusedStart("satrail_application", database)).found)
        yield* as("satrail_migration", database)(Migrations.migrate)
        yield* start("satrail_application", database)
      })
  )

  it.live("roles: the application may not migrate: a newer program names the missing migration", () =>
    Effect.gen(function* () {
      const database = yield* migrated
      yield* as(
        "satrail_migration",
        database
      )(run("update satrail.migrations set migration_id = migration_id - 1"))
      const { found, known, message } = yield* refusedStart("satrail_application", database)
      assert.strictEqual(found, known - 1)
      for (const words of [
        `at migration ${found}`,
        `needs ${known}`,
        "permission denied",
        "Run `satrail migrate`"
      ])
        assert.include(message, words)
    })
  )

  it.live(
    "roles: after a dump is restored, the application requires `satrail migrate`, after which events resume",
    () =>
      Effect.gen(function* () {
        const database = yield* migrated
        yield* as(
          "satrail_migration",
          database
        )(run("update satrail.epoch set transactions = transactions + 1000000"))
        const { message } = yield* refusedStart("satrail_application", database)
        for (const words of ["after a restored dump", "Run `satrail migrate`"]) assert.include(message, words)
        yield* as("satrail_migration", database)(Migrations.migrate)
        yield* start("satrail_application", database)
      })
  )

  it.live("roles: `satrail migrate` revokes an extra privilege", () =>
    Effect.gen(function* () {
      const database = yield* migrated
      const change = "update satrail.entries set amount = amount where false"
      yield* as("satrail_migration", database)(run("grant update on satrail.entries to satrail_application"))
      yield* as("satrail_application", database)(run(change))
      yield* as("satrail_migration", database)(Migrations.migrate)
      yield* mayNot("satrail_application", database, [change])
    })
  )

  it.live("roles: no other role may connect", () =>
    Effect.gen(function* () {
      const database = yield* prepared
      yield* as("postgres", "postgres")(run("create role stranger login"))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(clientAs("stranger", database))))
      assert.include(error.message, "permission denied for database")
    })
  )

  describe("the application", () => {
    it.live("roles: the application cannot change ledger entries, published events, or the schema", () =>
      Effect.gen(function* () {
        yield* mayNot("satrail_application", yield* migrated, [
          // A coin is released when it turns out to be the change of the payout that reserved it. Events are
          // deleted after their retention period.
          ...["entries", "audit_entries", "audit_links", "unmatched", "migrations", "epoch"].map(
            (table) => `delete from satrail.${table}`
          ),
          ...[
            "entries",
            "audit_entries",
            "audit_links",
            "events",
            "coins",
            "unmatched",
            "migrations",
            "epoch"
          ].flatMap((table) => [
            `truncate satrail.${table}`,
            `drop table satrail.${table}`,
            `alter table satrail.${table} add column more text`
          ]),
          "update satrail.entries set amount = 1",
          "update satrail.audit_entries set body = ''",
          "update satrail.audit_links set hash = ''",
          "update satrail.events set type = ''",
          "update satrail.coins set outpoint = ''",
          "update satrail.epoch set transactions = 1",
          "update satrail.api_keys set secret_hash = ''",
          "update satrail.api_keys set scopes = '[\"admin\"]'",
          "update satrail.api_keys set company_id = gen_random_uuid()",
          "update satrail.operator_tokens set secret_hash = ''",
          "update satrail.operator_tokens set scopes = '[\"all\"]'",
          "update satrail.withdrawals set amount = 1",
          "update satrail.deposits set amount = 1",
          "update satrail.companies set id = gen_random_uuid()",
          "insert into satrail.migrations (migration_id, name) values (9999, 'of_tomorrow')",
          "delete from satrail.balances",
          "delete from satrail.withdrawals",
          "alter table satrail.balances drop constraint balances_check",
          "create table satrail.mine (id int)",
          "create table public.mine (id int)",
          "create or replace function satrail.left_after_step(bigint, bigint, bigint) returns bigint language sql as 'select 1'",
          "create role mine"
        ])
      })
    )

    it.live(
      "roles: the application may change exactly the columns that a record type's declaration marks as mutable",
      () =>
        Effect.gen(function* () {
          const granted = yield* as(
            "postgres",
            yield* migrated
          )(
            run(`select table_name || '.' || column_name as column from information_schema.column_privileges
            where grantee = 'satrail_application' and table_schema = 'satrail' and privilege_type = 'UPDATE'`)
          )
          const changeable = new Set(granted.map((row): unknown => Reflect.get(row, "column")))
          // The time when a payment without an invoice was first noticed never changes.
          const records = Nouns.all.filter(({ name }) => name !== "unmatched")
          const [shall, may] = [true, false].map((isMoving) =>
            records.flatMap(({ name, members, moving }) =>
              members.flatMap(([member]) =>
                (isMoving ? moving.has(member) : changeable.has(`${name}.${Table.columnOf(member)}`))
                  ? [`${name}.${member}`]
                  : []
              )
            )
          )
          assert.deepStrictEqual(may, shall)
          assert.isFalse(changeable.has("api_keys.secret_hash"))
        })
    )

    it.live("roles: the application may read every table, including a new one", () =>
      Effect.gen(function* () {
        const without = run(`select tablename from pg_tables where schemaname = 'satrail'
          and not has_table_privilege('satrail_application', format('satrail.%I', tablename), 'select')`)
        assert.deepStrictEqual(yield* as("postgres", yield* migrated)(without), [])
      })
    )
  })

  describe("the reader", () => {
    it.live("roles: the reader sees everything but key hashes and stored responses", () =>
      Effect.gen(function* () {
        const database = yield* migrated
        const read = [
          "companies",
          "balances",
          "entries",
          "events",
          "withdrawals",
          "deposits",
          "invoices",
          "migrations"
        ]
        yield* as(
          "satrail_reader",
          database
        )(Effect.forEach(read, (table) => run(`select * from satrail.${table} limit 1`)))
        yield* as(
          "satrail_reader",
          database
        )(run("select id, revoked_at_millis from satrail.api_keys limit 1"))
        yield* mayNot("satrail_reader", database, [
          "select secret_hash from satrail.api_keys",
          "select answer from satrail.answers"
        ])
      })
    )

    it.live("roles: the reader cannot write, even after it turns off read-only mode", () =>
      Effect.gen(function* () {
        const tries = [
          "insert into satrail.events select * from satrail.events",
          "delete from satrail.entries",
          "create table public.mine (id int)"
        ]
        yield* mayNot(
          "satrail_reader",
          yield* migrated,
          tries.map((text) => `set default_transaction_read_only = off; commit; ${text}`)
        )
      })
    )
  })
})
