import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import { companyWith, verdict, withdrawal } from "@satrail/contracts/Fixtures"
import { has } from "@satrail/contracts/Ledger"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Cause, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createConnection, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import Pg from "pg"
import * as PgClient from "../src/client/PgClient.ts"
import * as PgConnection from "../src/client/PgConnection.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

/** The number of this database's active sessions, except the one that runs this query. */
const busy = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly query: string }>`
    select query from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`
)

/**
 * A proxy to the server. Cutting it closes both ends immediately, without a termination message. Blocking it lets
 * nothing through, and refuses further connections.
 */
const roadTo = Effect.fnUntraced(function* ({ port, hostname }: URL) {
  const sockets = new Set<Socket>()
  const road = createServer((near) => {
    const far = createConnection(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      from.on("error", () => to.destroy()).pipe(to)
    }
  }).listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(road, "listening"))
  const cut = () => sockets.forEach((socket) => socket.resetAndDestroy())
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      cut()
      road.close()
    })
  )
  const address = road.address()
  const block = () => {
    sockets.forEach((socket) => socket.unpipe().pause())
    road.close()
  }
  return {
    port: typeof address === "object" && address !== null ? address.port : assert.fail("no port"),
    cut,
    block
  }
})

describe.skipIf(Database.server === undefined)("a client of a server (skipped where there is none)", () => {
  it.live("PgClient: an interrupted query is canceled on the server, and its connection is not reused", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const one = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
      const pid = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ readonly pid: number }>`select pg_backend_pid() as pid`
      )
      const [before] = yield* Effect.provide(pid, one)
      const sleeping = yield* Effect.forkChild(
        Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select pg_sleep(600)`),
          one
        ),
        { startImmediately: true }
      )
      const other = yield* Layer.build(PgClient.layer({ url }))
      yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
      yield* Fiber.interrupt(sleeping)
      yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 0)
      const [after] = yield* Effect.provide(pid, one)
      assert.notStrictEqual(after?.pid, before?.pid)
    })
  )

  it.live("PgClient: a query that survives the first cancel request is canceled again", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const one = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
      const other = yield* Layer.build(PgClient.layer({ url }))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(`create function stubborn() returns void language plpgsql as $$
          begin perform pg_sleep(600); exception when query_canceled then perform pg_sleep(600); end $$`)
        const sleeping = yield* Effect.forkChild(sql`select stubborn()`, { startImmediately: true })
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
        yield* Fiber.interrupt(sleeping)
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 0)
      }).pipe(Effect.provide(one))
    })
  )

  it.live("PgClient: an interrupted transaction leaves no trace and no session behind", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const client = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table t (n integer)`
        const fiber = yield* Effect.forkChild(
          sql.withTransaction(Effect.andThen(sql`insert into t values (1)`, sql`select pg_sleep(600)`)),
          {
            startImmediately: true
          }
        )
        const other = yield* Layer.build(PgClient.layer({ url }))
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* sql`select n from t`, [])
        const open = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
        )
        assert.deepStrictEqual(yield* Effect.provide(open, other), [])
      }).pipe(Effect.provide(client))
    })
  )

  it.live("PgClient: a statement that runs too long, or waits too long for a lock, is canceled", () =>
    Effect.gen(function* () {
      const url = yield* Database.make
      const asked = (text: string, limits: Partial<PgClient.Options>) =>
        Effect.scoped(
          Effect.flatMap(Layer.build(PgClient.layer({ url, ...limits })), (client) =>
            Effect.flip(
              Effect.provide(
                Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)),
                client
              )
            )
          )
        )
      // The lock holder has longer timeouts.
      const client = yield* Layer.build(PgClient.layer({ url }))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const long = yield* asked("select pg_sleep(600)", { statementTimeoutMillis: 400 })
        assert.strictEqual(long.reason._tag, "StatementTimeoutError")
        yield* sql`create table t (n integer)`
        const waits = yield* sql.withTransaction(
          Effect.andThen(sql`lock table t`, asked("select n from t", { lockTimeoutMillis: 100 }))
        )
        assert.strictEqual(waits.reason._tag, "LockTimeoutError")
      }).pipe(Effect.provide(client))
    })
  )

  it.live(
    "PgClient: a statement that waited for a row sees its newest version, whatever isolation the database has by default",
    () =>
      Effect.gen(function* () {
        const url = yield* Database.make
        const connect = Layer.build(PgClient.layer({ url }))
        const ask = (text: string) =>
          SqlClient.SqlClient.use((sql) => sql.unsafe<{ readonly n: number }>(text).unprepared)
        const [holder, other] = [yield* connect, yield* connect]
        yield* Effect.provide(ask("create table t (n integer); insert into t values (0)"), other)
        const name = new URL(Redacted.value(url)).pathname.slice(1)
        yield* Effect.provide(
          ask(`alter database ${name} set default_transaction_isolation = 'serializable'`),
          other
        )
        const service = yield* connect
        const adding = ask("update t set n = n + 1 returning n")
        const waiting = Effect.gen(function* () {
          yield* adding
          const waits = yield* Effect.forkDetach(Effect.provide(adding, service))
          // The holder's session is idle in its transaction.
          yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
          return waits
        })
        const waits = yield* Effect.provide(
          SqlClient.SqlClient.use((sql) => sql.withTransaction(waiting)),
          holder
        )
        assert.deepStrictEqual(yield* Fiber.join(waits), [{ n: 2 }])
      })
  )

  it.live(
    "PgClient: a late read fails and is canceled on the server, if it can be reached, and its connection is not reused",
    () =>
      Effect.gen(function* () {
        const url = new URL(Redacted.value(yield* Database.make))
        const other = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href) }))
        const road = yield* roadTo(url)
        url.host = `127.0.0.1:${road.port}`
        // Only this client ends a statement, not the server's timeout.
        const client = yield* Layer.build(
          PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1, statementTimeoutMillis: 600_000 })
        )
        const late = (millis: number) =>
          Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.flip(sql`select pg_sleep(600)`)).pipe(
            Effect.provide(client),
            Effect.provideService(PgConnection.Patience, millis)
          )
        const pid = Effect.provide(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql<{ readonly pid: number }>`select pg_backend_pid() as pid`
          ),
          client
        )
        const [before] = yield* pid
        assert.deepInclude((yield* late(100)).reason, {
          _tag: "ConnectionError",
          message: "no response within 100 ms"
        })
        // The server sends a query's error before it lists the session as idle.
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 0)
        const [after] = yield* pid
        assert.notStrictEqual(after?.pid, before?.pid)
        const waiting = yield* Effect.forkChild(late(3000), { startImmediately: true })
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
        road.block()
        assert.strictEqual((yield* Fiber.join(waiting)).reason.message, "no response within 3000 ms")
      })
  )

  it.live(
    "PgConnection: a query that may be a commit is not canceled after its limit, because a canceled commit is not replicated",
    () =>
      Effect.gen(function* () {
        const url = yield* Database.make
        const other = yield* Layer.build(PgClient.layer({ url }))
        const client = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const client = new Pg.Client(Redacted.value(url))
            await client.connect()
            return client
          }),
          (client) => Effect.sync(() => PgConnection.leave(client, 100))
        )
        const settings = () => ({ connectionString: Redacted.value(url) })
        const error = yield* Effect.flip(
          PgConnection.asking(client, settings, { limitMillis: 100 })({ text: "select pg_sleep(600)" })
        )
        assert.strictEqual(error.reason.message, "no response within 100 ms")
        // A busy server may begin the query later.
        yield* eventually(Effect.provide(busy, other), (rows) => rows.length === 1)
      })
  )

  it.live("PgClient: a connection lost during a query fails only that query", () =>
    Effect.gen(function* () {
      const url = new URL(Redacted.value(yield* Database.make))
      const road = yield* roadTo(url)
      url.host = `127.0.0.1:${road.port}`
      const client = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href) }))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const asked = yield* Effect.forkChild(Effect.flip(sql`select pg_sleep(600)`), {
          startImmediately: true
        })
        yield* eventually(busy, (rows) => rows.length === 1)
        road.cut()
        assert.strictEqual((yield* Fiber.join(asked)).reason._tag, "ConnectionError")
        assert.deepStrictEqual(yield* sql`select 1 as one`, [{ one: 1 }])
        yield* sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
      }).pipe(Effect.provide(client))
    })
  )

  it.live(
    "PgClient: the connection survives a query that the server rejects; statement names do not collide in a pool shared with the host application",
    () =>
      Effect.gen(function* () {
        const url = yield* Database.make
        const pool = yield* Database.hostsPool({ connectionString: Redacted.value(url), max: 1 })
        const client = yield* Layer.build(PgClient.layerPool(pool))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [before] = yield* sql`select pg_backend_pid() as pid`
          yield* Effect.promise(() => pool.query({ name: "a name of the host's", text: "select 1" }))
          assert.strictEqual((yield* Effect.flip(sql`select 1 / 0`)).reason._tag, "UnknownError")
          assert.deepStrictEqual((yield* sql`select pg_backend_pid() as pid`)[0], before)
          const names = yield* sql<{
            readonly name: string
          }>`select name from pg_prepared_statements order by name`.unprepared
          assert.isTrue(names.some(({ name }) => name === "a name of the host's"))
          assert.isTrue(
            names.every(({ name }) => name === "a name of the host's" || name.startsWith("satrail_"))
          )
          assert.isAbove(names.length, 1)
        }).pipe(Effect.provide(client))
      })
  )
})

const found = PostgresServer.find()

/** A server that no other test uses. */
const own = (options: Parameters<typeof PostgresServer.start>[1] = {}) =>
  "missing" in found
    ? Effect.die(found.missing)
    : Effect.acquireRelease(
        Effect.promise(() => PostgresServer.start(found, options)),
        (server) => Effect.promise(() => server.end())
      )

/** Refuses connections to this port and counts them. */
const knocksAt = Effect.fnUntraced(function* (port: number) {
  let knocks = 0
  const server = createServer((socket) => {
    knocks++
    socket.destroy()
  }).listen(port, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  return Effect.promise(async () => {
    server.close()
    await once(server, "close")
    return knocks
  })
})

describe.skipIf("missing" in found)("a dedicated server (skipped where none can be started)", () => {
  it.live(
    "PgClient: a server crash is reported as an outage immediately; after the restart the store works again, and no commit is lost",
    () =>
      Effect.gen(function* () {
        const server = yield* own()
        const storage = yield* Layer.build(Storage.layer({ url: Redacted.make(server.url) }))
        yield* Effect.gen(function* () {
          const companyId = yield* companyWith(100)
          yield* Effect.promise(() => server.stop("immediate"))
          const asked = Withdrawal.requested(yield* withdrawal(companyId, 60))
          for (const _ of [1, 2, 3]) assert.strictEqual(yield* verdict(asked), "StoreUnavailable")
          // The pool tries to connect occasionally, not for every request.
          const knocks = yield* knocksAt(server.port)
          const records = yield* Records
          for (let asked = 0; asked < 300; asked++) {
            const exit = yield* Effect.exit(records.company(companyId))
            assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
          }
          assert.isBelow(yield* knocks, 30)
          yield* Effect.promise(() => server.restart())
          assert.strictEqual(
            yield* eventually(verdict(asked), (word) => word !== "StoreUnavailable"),
            "Applied"
          )
          yield* has(companyId, { posted: 100, held: 60 })
        }).pipe(Effect.provide(storage))
      })
  )

  it.live(
    "PgClient: a commit not confirmed by the standby is not acknowledged, because a failover may lose that commit",
    () =>
      Effect.gen(function* () {
        const server = yield* own({
          settings: [...PostgresServer.careless, "synchronous_standby_names=nobody"]
        })
        const connect = Layer.build(PgClient.layer({ url: Redacted.make(server.url), maxConnections: 1 }))
        const [one, other] = [yield* connect, yield* connect]
        const waiting = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql<{ readonly pid: number }>`select pid from pg_stat_activity where wait_event = 'SyncRep'`
        )
        const alone = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provide(work, other)
        yield* alone(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`set synchronous_commit = local`))
        yield* alone(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`create table t (n integer)`))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const writes = [sql`insert into t values (1)`, sql.withTransaction(sql`insert into t values (2)`)]
          for (const write of writes) {
            const asked = yield* Effect.forkChild(Effect.exit(write), { startImmediately: true })
            const [session] = yield* eventually(alone(waiting), (rows) => rows.length === 1)
            yield* alone(
              Effect.flatMap(
                SqlClient.SqlClient,
                (sql) => sql`select pg_cancel_backend(${session?.pid ?? 0})`
              )
            )
            const exit = yield* Fiber.join(asked)
            assert.isTrue(Exit.isFailure(exit), "the commit is not acknowledged")
            const error = Exit.isFailure(exit)
              ? Option.getOrUndefined(Cause.findErrorOption(exit.cause))
              : undefined
            assert.strictEqual(error?.reason._tag, "ConnectionError")
          }
          assert.lengthOf(yield* sql`select n from t`, 2, "the rows are still committed on the primary")
        }).pipe(Effect.provide(one))
      })
  )

  it.live(
    "PgClient: while the standby is away, commits take no more of the server's sessions, and reads continue",
    () =>
      Effect.gen(function* () {
        const url = Redacted.make((yield* own()).url)
        const ask = (text: string) =>
          SqlClient.SqlClient.use((sql) => sql.unsafe<{ readonly found: unknown }>(text).unprepared)
        const other = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
        const operator = (text: string) => Effect.provide(ask(text), other)
        const waitFor = Effect.fnUntraced(function* (standbys: string) {
          yield* operator(`alter system set synchronous_standby_names = '${standbys}'`)
          yield* operator("select pg_reload_conf()")
          const shown = operator("select current_setting('synchronous_standby_names') as found")
          yield* eventually(shown, ([row]) => row?.found === standbys)
        })
        yield* operator("set synchronous_commit = local")
        yield* operator("create table t (n integer)")
        yield* waitFor("nobody")
        const service = yield* Layer.build(PgClient.layer({ url, statementTimeoutMillis: 500 }))
        const commits = Effect.forEach([1, 2, 3], () => Effect.exit(ask("insert into t values (1)")), {
          concurrency: "unbounded"
        })
        const waiting = operator(
          "select count(*)::int as found from pg_stat_activity where wait_event = 'SyncRep'"
        )
        yield* Effect.gen(function* () {
          for (const exit of yield* commits) assert.include(String(exit), "no response within")
          for (const _ of [1, 2]) {
            for (const exit of yield* commits) assert.include(String(exit), "commits are not confirmed")
            assert.deepStrictEqual(yield* waiting, [{ found: 3 }])
          }
          assert.deepStrictEqual(yield* ask("select 1 as found"), [{ found: 1 }])
          yield* waitFor("")
          yield* eventually(waiting, ([row]) => row?.found === 0)
          for (const exit of yield* commits) assert.isTrue(Exit.isSuccess(exit))
        }).pipe(Effect.provide(service))
      })
  )

  it.live(
    "PgClient: an interrupted query in the host application's pool is canceled on the server too, even if the server requires a password",
    () =>
      Effect.gen(function* () {
        const hba = ["host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256", ""]
        const server = yield* own({ files: { "pg_hba.conf": hba.join("\n") } })
        const owner = yield* Layer.build(PgClient.layer({ url: Redacted.make(server.url) }))
        yield* Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql.unsafe("create role shop login password 'hunter2'")
          ),
          owner
        )
        const where = { host: "127.0.0.1", port: server.port, database: "postgres" }
        const pool = yield* Database.hostsPool({ ...where, user: "shop", password: "hunter2" })
        const client = yield* Layer.build(PgClient.layerPool(pool))
        const sleeping = yield* Effect.forkChild(
          Effect.provide(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select pg_sleep(600)`),
            client
          ),
          { startImmediately: true }
        )
        yield* eventually(Effect.provide(busy, owner), (rows) => rows.length === 1)
        yield* Fiber.interrupt(sleeping)
        yield* eventually(Effect.provide(busy, owner), (rows) => rows.length === 0)
      })
  )

  /** A self-signed certificate for this machine, and its key. */
  const certificate = Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-certificate-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
    ),
    (directory) => {
      const [file, key] = [path.join(directory, "server.crt"), path.join(directory, "server.key")]
      const what = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
      const whose = ["-subj", "/CN=satrail test", "-addext", "subjectAltName=IP:127.0.0.1"]
      execFileSync("openssl", ["req", "-x509", ...what, ...whose, "-keyout", key, "-out", file], {
        stdio: "ignore"
      })
      return { file, text: readFileSync(file, "utf8"), key: readFileSync(key, "utf8") }
    }
  )

  it.live("PgClient: with TLS, only a certificate issued by the named authority is trusted", () =>
    Effect.gen(function* () {
      const [right, wrong] = [yield* certificate, yield* certificate]
      const server = yield* own({
        settings: [...PostgresServer.careless, "ssl=on"],
        files: { "server.crt": right.text, "server.key": right.key }
      })
      const connect = (query: string) =>
        Layer.build(PgClient.layer({ url: Redacted.make(`${server.url}?sslmode=verify-full${query}`) }))
      const client = yield* connect(`&sslrootcert=${right.file}`)
      const [row] = yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
        ),
        client
      )
      assert.deepStrictEqual(row, { ssl: true })
      for (const query of [`&sslrootcert=${wrong.file}`, ""]) {
        const error = yield* Effect.flip(connect(query))
        assert.strictEqual(error._tag, "DatabaseUnreachable")
        assert.include(error.message, "certificate of the server", error.message)
      }
    })
  )
})
