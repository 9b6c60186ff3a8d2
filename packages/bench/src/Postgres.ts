import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { existsSync, globSync } from "node:fs"
import path from "node:path"
import * as Program from "./Program.ts"

/** A PostgreSQL server and pgbench. */
export interface Postgres {
  readonly version: string
  readonly pgbench: string
  /** Creates a database and returns its URL. The database is dropped when the scope closes. */
  readonly database: Effect.Effect<string, Program.BenchFailed, Scope.Scope>
}

const ask = (url: string, text: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql.unsafe<{ readonly server_version?: string }>(text).unprepared
  ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), Program.failed)

/** Starts a server with durable commits. It counts statements if pg_stat_statements is installed. */
const started = (installation: PostgresServer.Installation) => {
  const counts = existsSync(path.join(installation.folder, "../lib/pg_stat_statements.so"))
  const settings = [
    "shared_buffers=1GB",
    "max_wal_size=4GB",
    ...(counts ? ["shared_preload_libraries=pg_stat_statements"] : [])
  ]
  return Effect.acquireRelease(
    Effect.tryPromise({
      try: () => PostgresServer.start(installation, { settings }),
      catch: (cause) => new Program.BenchFailed({ message: String(cause) })
    }),
    (server) => Effect.promise(() => server.end())
  )
}

const database = Effect.fnUntraced(function* (server: string) {
  const name = `satrail_bench_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(ask(server, `create database ${name}`), () =>
    Effect.ignore(ask(server, `drop database ${name} with (force)`))
  )
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
})

/**
 * Connects to `TEST_DATABASE_URL`, or starts a server with this machine's binaries. If neither is possible or
 * pgbench is not installed, returns the reason as text.
 */
export const make: Effect.Effect<Postgres | string, Program.BenchFailed, Scope.Scope> = Effect.gen(
  function* () {
    const given = process.env["TEST_DATABASE_URL"] ?? ""
    const found = PostgresServer.find()
    if (given === "" && "missing" in found) return `TEST_DATABASE_URL is not set, and ${found.missing}`
    const folders = [
      "missing" in found ? [] : found.folder,
      globSync("/usr/lib/postgresql/*/bin"),
      process.env["PATH"]?.split(":") ?? []
    ]
    const pgbench = folders
      .flat()
      .map((folder) => path.join(folder, "pgbench"))
      .find((file) => existsSync(file))
    if (pgbench === undefined) return "pgbench, which is part of PostgreSQL, was not found"
    const url = given === "" && !("missing" in found) ? (yield* started(found)).url : given
    const [row] = yield* ask(url, "show server_version")
    return { version: row?.server_version ?? "unknown", pgbench, database: database(url) }
  }
)
