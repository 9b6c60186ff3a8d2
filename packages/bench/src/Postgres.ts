import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Program from "./Program.ts"

/** A PostgreSQL server. */
export interface Postgres {
  readonly version: string
  /** Where its programs are, if it is one of ours. */
  readonly folder: string | undefined
  /** A new database on it, dropped when the scope closes; its address. */
  readonly database: Effect.Effect<string, Program.BenchFailed, Scope.Scope>
}

/** No PostgreSQL can be measured here, and why: for a line of the report. */
export interface Missing {
  readonly missing: string
}

// Counts statements, where the module is installed.
const counting = (installation: PostgresServer.Installation) =>
  existsSync(path.join(installation.folder, "../lib/pg_stat_statements.so")) ? ["shared_preload_libraries=pg_stat_statements"] : []

/** A server of our own, durable as a real one. */
const ownServer = (installation: PostgresServer.Installation) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () => PostgresServer.start(installation, { settings: ["shared_buffers=1GB", "max_wal_size=4GB", ...counting(installation)] }),
        catch: (cause) => new Program.BenchFailed({ message: String(cause) })
      }),
      (server) => Effect.promise(() => server.end())
    ),
    ({ url }) => url
  )

const ask = (url: string, text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly server_version?: string }>(text).unprepared).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.mapError(({ message }) => new Program.BenchFailed({ message }))
  )

/** A new database, dropped when the scope closes. */
const database = Effect.fnUntraced(function* (server: string) {
  const name = `satrail_bench_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(ask(server, `create database ${name}`), () =>
    Effect.ignore(ask(server, `drop database ${name} with (force)`))
  )
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
})

/** `TEST_DATABASE_URL`, or a server started from this machine's binaries. */
export const make: Effect.Effect<Postgres | Missing, Program.BenchFailed, Scope.Scope> = Effect.gen(function* () {
  const given = process.env["TEST_DATABASE_URL"] ?? ""
  const found = PostgresServer.find()
  if (given === "" && "missing" in found) return { missing: `no PostgreSQL here: TEST_DATABASE_URL names none, and ${found.missing}` }
  const url = given === "" && !("missing" in found) ? yield* ownServer(found) : given
  const [row] = yield* ask(url, "show server_version")
  return {
    version: row?.server_version ?? "unknown",
    folder: given === "" && !("missing" in found) ? found.folder : undefined,
    database: database(url)
  }
})
