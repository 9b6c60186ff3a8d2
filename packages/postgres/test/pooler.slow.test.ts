import { assert, describe, it } from "@effect/vitest"
import { companyWith, verdict, withdrawal } from "@satrail/contracts/Fixtures"
import * as JournalContract from "@satrail/contracts/journal/Journal"
import { eventually } from "@satrail/contracts/Eventually"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as PgBouncer from "@satrail/testing/PgBouncer"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { isTurnOf } from "@satrail/testing/Turn"
import { Cause, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

// Debian's PgBouncer with its defaults, which reject startup parameters for session settings.

const program = PgBouncer.find()
const installation = PostgresServer.find()
const isHere = typeof program === "string" && !("missing" in installation)
if (!isHere && process.env["REQUIRE_PGBOUNCER"] === "1")
  throw new Error("These tests require PgBouncer and PostgreSQL")

const through = (port: number, settings: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      if (typeof program !== "string" || "missing" in installation) return assert.fail("skipped without them")
      return PgBouncer.start(program, installation, port, settings)
    }),
    (bouncer) => Effect.promise(bouncer.end)
  )

/** A new database behind its own PgBouncer. */
const pooled = Effect.fnUntraced(function* (...settings: ReadonlyArray<string>) {
  const url = new URL(Redacted.value(yield* Database.make))
  const { port } = yield* through(Number(url.port), settings)
  url.port = String(port)
  return Redacted.make(url.href)
})

const refusal = (url: Redacted.Redacted) =>
  Effect.map(Effect.exit(Effect.scoped(Layer.build(Storage.layer({ url })))), (exit) => {
    if (Exit.isSuccess(exit)) return assert.fail("it started")
    const error = Option.getOrThrow(Cause.findErrorOption(exit.cause))
    assert.strictEqual(error._tag, "DatabaseUnreachable")
    return error.message
  })

const sessions = Layer.provide(
  Storage.layerClient({ maxItemsPerFlush: 1 }),
  Layer.unwrap(
    Effect.map(pooled("pool_mode=session", "default_pool_size=20"), (url) => PgClient.layer({ url }))
  )
)

describe.skipIf(!isHere || Database.server === undefined)(
  "PgBouncer (skipped where it is not installed)",
  () => {
    // It takes turns with roles.slow.test.ts and with the newest PostgreSQL.
    if (isTurnOf(1, 3))
      JournalContract.suite("postgres, one item per flush, through PgBouncer in session mode", sessions)

    for (const [name, settings] of [
      ["with its defaults", []],
      ["with one server connection", ["default_pool_size=1"]],
      ["that rotates server connections", ["server_round_robin=1", "min_pool_size=5"]],
      [
        "that ignores start-up parameters",
        ["ignore_startup_parameters=options,statement_timeout,lock_timeout"]
      ],
      ["that resets every transaction", ["server_reset_query_always=1"]]
    ] as const) {
      it.live(
        `pooler: a start through a pooler in transaction mode ${name} fails, and the error names the remedy`,
        () =>
          Effect.gen(function* () {
            const said = yield* refusal(yield* pooled("pool_mode=transaction", ...settings))
            assert.include(said, "this is a pooler in transaction mode")
            assert.include(said, "Use the direct URL")
          })
      )
    }

    it.live("pooler: in transaction mode under load from other clients, every start fails", () =>
      Effect.gen(function* () {
        const url = yield* pooled("pool_mode=transaction", "default_pool_size=8")
        const busy = yield* Database.hostsPool({ connectionString: Redacted.value(url), max: 8 })
        const load = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 8 }, () =>
              Effect.forever(Effect.promise(() => busy.query("select pg_sleep(random() * 0.003)")))
            ),
            { concurrency: "unbounded" }
          )
        )
        for (let start = 0; start < 20; start++)
          assert.include(yield* refusal(url), "this is a pooler in transaction mode")
        yield* Fiber.interrupt(load)
      })
    )

    it.live("pooler: in statement mode the start fails with a named error", () =>
      Effect.gen(function* () {
        assert.include(
          yield* refusal(yield* pooled("pool_mode=statement")),
          "this is a pooler in transaction mode"
        )
      })
    )

    it.live("pooler: in transaction mode an application's own pool fails with a named error", () =>
      Effect.gen(function* () {
        const url = yield* pooled("pool_mode=transaction")
        const pool = yield* Database.hostsPool({ connectionString: Redacted.value(url) })
        const error = yield* Effect.flip(Layer.build(PgClient.layerPool(pool)))
        assert.include(error.message, "this is a pooler in transaction mode")
      })
    )

    it.live("pooler: in session mode one session is enough for one connection", () =>
      Effect.gen(function* () {
        const url = yield* pooled("pool_mode=session", "default_pool_size=1")
        const client = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
        const asked = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select current_setting('jit') as jit`)
        assert.deepStrictEqual(yield* Effect.provide(asked, client), [{ jit: "off" }])
      })
    )

    it.live(
      "pooler: in session mode a connection keeps its settings, and an interrupted query is canceled on the server",
      () =>
        Effect.gen(function* () {
          const url = yield* pooled("pool_mode=session")
          const client = yield* Layer.build(
            PgClient.layer({ url, maxConnections: 3, statementTimeoutMillis: 7000, lockTimeoutMillis: 3000 })
          )
          yield* Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const [settings] =
              yield* sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle, current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit`
            assert.deepStrictEqual(settings, {
              statement: "7s",
              lock: "3s",
              idle: "1min",
              seqscan: "off",
              jit: "off"
            })
            const sleeping = yield* Effect.forkChild(sql`select pg_sleep(600)`, { startImmediately: true })
            const running = sql`select query from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`
            yield* eventually(running, (rows) => rows.length === 1)
            yield* Fiber.interrupt(sleeping)
            yield* eventually(running, (rows) => rows.length === 0)
          }).pipe(Effect.provide(client))
        })
    )

    it.live(
      "pooler: while PostgreSQL restarts behind PgBouncer, commits fail as outages, and afterward they succeed",
      () =>
        Effect.gen(function* () {
          if ("missing" in installation) return assert.fail("skipped without it")
          const server = yield* Effect.acquireRelease(
            Effect.promise(() => PostgresServer.start(installation)),
            ({ end }) => Effect.promise(end)
          )
          const { port } = yield* through(server.port, ["pool_mode=session", "server_login_retry=0"])
          const url = Redacted.make(`postgres://postgres@127.0.0.1:${port}/postgres`)
          const store = yield* Layer.build(Storage.layer({ url }))
          yield* Effect.gen(function* () {
            const companyId = yield* companyWith(1000)
            const change = Withdrawal.requested(yield* withdrawal(companyId, 100))
            yield* Effect.promise(() => server.stop("immediate"))
            for (let i = 0; i < 3; i++) assert.strictEqual(yield* verdict(change), "StoreUnavailable")
            yield* Effect.promise(() => server.restart())
            yield* eventually(verdict(change), (word) => word === "Applied")
          }).pipe(Effect.provide(store))
        })
    )

    it.live("pooler: PgBouncer's reason comes first in the message", () =>
      Effect.gen(function* () {
        const url = `${Redacted.value(yield* pooled("pool_mode=session"))}?statement_timeout=1000`
        const said = yield* refusal(Redacted.make(url))
        assert.match(said, /^unsupported startup parameter: statement_timeout/)
        assert.notInclude(said, "Is it running")
      })
    )
  }
)
