import * as PgClient from "@satrail/postgres/PgClient"
import { Effect, Redacted, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Program from "./Program.ts"

/** A PostgreSQL server, and a database of its own on it for this run. */
export interface Postgres {
  readonly url: string
  readonly version: string
}

/** No PostgreSQL can be measured here, and why: for a line of the report. */
export interface Missing {
  readonly missing: string
}

/** The newest installation that can make a server from nothing. */
const findBinaries = (): string | undefined =>
  [
    ...globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => b.localeCompare(a, "en", { numeric: true })),
    ...(process.env["PATH"] ?? "").split(path.delimiter)
  ].find((folder) => ["initdb", "postgres"].every((name) => existsSync(path.join(folder, name))))

/** PostgreSQL refuses to run as root: root lends it the user it was installed with. */
const user = (): { readonly uid?: number; readonly gid?: number } | undefined => {
  if (process.getuid?.() !== 0) return {}
  try {
    const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))
    return { uid: id("-u"), gid: id("-g") }
  } catch {
    return undefined // there is no such user
  }
}

/** A server of our own, durable as a real one, in a temporary directory that goes with it. */
const ownServer = Effect.fnUntraced(function* (folder: string, identity: { readonly uid?: number; readonly gid?: number }) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const made = mkdtempSync(path.join(tmpdir(), "satrail-bench-postgres-"))
      if (identity.uid !== undefined && identity.gid !== undefined) chownSync(made, identity.uid, identity.gid)
      return made
    }),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const data = path.join(directory, "data")
  yield* Program.finish(
    "initdb",
    path.join(folder, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
    identity
  )
  const port = yield* Program.freePort
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=256MB", "max_wal_size=4GB"]
  const server = yield* Program.start(
    "postgres",
    path.join(folder, "postgres"),
    ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    { ...identity, stopSignal: "SIGINT" } // the fast end: it does not wait for clients
  )
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, died: server.died }
})

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
  const folder = findBinaries()
  const identity = user()
  if (given === "" && folder === undefined) return { missing: "no PostgreSQL here: neither TEST_DATABASE_URL nor its programs were found" }
  if (given === "" && identity === undefined)
    return { missing: "PostgreSQL does not run as root, and there is no user postgres to run it as" }
  const { url, died } =
    given === "" && folder !== undefined && identity !== undefined ? yield* ownServer(folder, identity) : { url: given, died: Effect.never }
  const [row] = yield* Effect.raceFirst(
    Effect.retry(ask(url, "show server_version"), { schedule: Schedule.spaced("100 millis"), times: 100 }),
    died
  )
  return { url: yield* database(url), version: row?.server_version ?? "unknown" }
})
