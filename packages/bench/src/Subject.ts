import { Effect, Layer, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import path from "node:path"
import * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import type { Pgbench } from "./Pgbench.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import type * as Reports from "./Reports.ts"
import * as Service from "./Service.ts"

export interface Server {
  readonly port: number
  readonly pid: number
}

/** Two processes, of which each has half of the clients. */
export interface Pair extends Server {
  readonly beside: Server
}

/** What is measured: programs over one filled database. */
export interface Subject {
  /** The HTTP side of the service, without workers, where one company asks and no other. */
  readonly api: Server
  /** The same, where all companies ask: for a minute after another one has, none has the service to itself (http/src/Lanes.ts). */
  readonly shared: Server
  /** Each of these with another process beside it. */
  readonly pairs: { readonly api: Pair; readonly shared: Pair }
  /** The process of the Journal without HTTP, and what it is asked. */
  readonly journal: { readonly pid: number }
  readonly drive: (drive: Drive.Drive) => Effect.Effect<Drive.Outcome, Program.BenchFailed>
  /** The API keys of the companies, in order, and how many rows their past has. */
  readonly keys: ReadonlyArray<string>
  readonly rows: number
  readonly sql: SqlClient.SqlClient
  readonly pgbench: Pgbench
  /** Another HTTP side over the same database, until the scope closes. */
  readonly another: (options: Program.ForkOptions) => Effect.Effect<Server, Program.BenchFailed, Scope.Scope>
  /** What the database server has written to its log (WAL), and how many statements it was sent, since it began. */
  readonly spent: Effect.Effect<{ readonly walBytes: number; readonly statements: number | undefined }, Program.BenchFailed>
}

/** A service with more than its HTTP side, over a database of its own. */
export interface Whole {
  readonly server: Server
  readonly keys: ReadonlyArray<string>
  readonly databaseUrl: string
}

/** A whole service whose node reports what it is told was paid. */
export interface Settling extends Whole {
  readonly report: (run: Reports.Run) => Effect.Effect<void>
  readonly sql: SqlClient.SqlClient
}

export interface Options {
  /** How many rows of the past there are. */
  readonly rows: number
  readonly directory: string
  /** Where CPU profiles go when the programs end. None unless given. */
  readonly profileDirectory?: string | undefined
  readonly tell: (line: string) => void
}

const Spent = Schema.decodeUnknownSync(Schema.Struct({ wal: Schema.FiniteFromString, statements: Schema.NullOr(Schema.FiniteFromString) }))

const environment = (databaseUrl: string, directory: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  DATABASE_URL: databaseUrl,
  SATRAIL_DATA: directory,
  ...Program.surroundings(directory),
  PORT: "0",
  // One caller asks at one address, as fast as he can: what is measured is the answer, not its limits.
  SATRAIL_LNURL_PER_ADDRESS: "10000000",
  SATRAIL_LNURL_PER_CALLER: "10000000",
  SATRAIL_LNURL_OPEN: "10000000",
  SATRAIL_REQUESTS_PER_KEY: "0",
  // The loaded past never was at its node.
  SATRAIL_RECONCILE_SECONDS: "86400",
  // A line a request would be measured with it.
  SATRAIL_REQUEST_LOG: "no"
})

/** The HTTP side of the service over a database; where it `sendsWebhooks`, with the worker that does. */
const api = (databaseUrl: string, directory: string, profileDirectory: string | undefined, sendsWebhooks = false) =>
  Program.server("apiProgram", {
    env: { ...environment(databaseUrl, directory), ...(sendsWebhooks && { BENCH_SENDS_WEBHOOKS: "yes" }) },
    nodeArgs: profiled(profileDirectory)
  })

/** What Node is given to write a CPU profile there when it ends. */
export const profiled = (directory: string | undefined) => (directory === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${directory}`])

const client = (url: string) => Effect.flatMap(Layer.build(Fill.client(url)), (context) => Effect.provide(SqlClient.SqlClient, context))

const unreachable = Effect.mapError(({ message }: { readonly message: string }) => new Program.BenchFailed({ message }))

/** Companies and so many rows of their past; the companies' keys. */
const filled = (rows: number, tell: (line: string) => void) =>
  Effect.tap(Fill.companies, () =>
    Fill.history(rows, (loaded) => tell(`loading: ${loaded.toLocaleString("en")} of ${rows.toLocaleString("en")} rows`))
  )

/** Makes a database, has the service make its tables, and fills it. Everything is gone when the scope closes. */
export const make = Effect.fnUntraced(function* (
  postgres: Postgres,
  program: string,
  { rows, directory, profileDirectory, tell }: Options
) {
  const url = yield* postgres.database
  const server = yield* api(url, path.join(directory, "api"), profileDirectory)
  const sql = yield* unreachable(client(url))
  const keys = yield* Effect.provideService(filled(rows, tell), SqlClient.SqlClient, sql)
  const journal = yield* Program.fork("journalProgram", { env: environment(url, directory), nodeArgs: profiled(profileDirectory) })
  const counted = yield* Effect.provideService(Fill.countStatements, SqlClient.SqlClient, sql)
  const another: Subject["another"] = ({ env, nodeArgs = [], ...more }) =>
    Program.server("apiProgram", {
      ...more,
      env: { ...environment(url, path.join(directory, "api")), ...env },
      nodeArgs: [...profiled(profileDirectory), ...nodeArgs]
    })
  const [shared, besideApi, besideShared] = [yield* another({}), yield* another({}), yield* another({})]
  return {
    api: server,
    shared,
    pairs: { api: { ...server, beside: besideApi }, shared: { ...shared, beside: besideShared } },
    journal,
    drive: (drive) =>
      Effect.suspend(() => {
        journal.child.send(drive)
        return Program.message(journal, Drive.Outcome)
      }),
    keys,
    rows,
    sql,
    pgbench: { program, url, directory },
    another,
    spent: sql
      .unsafe<object>(
        `select (pg_current_wal_insert_lsn() - '0/0')::text as wal, ${counted ? "(select sum(calls)::text from pg_stat_statements)" : "null"} as statements`
      )
      .pipe(
        Effect.map(([row]) => Spent(row)),
        Effect.map(({ wal, statements }) => ({ walBytes: wal, statements: statements ?? undefined })),
        unreachable
      )
  } satisfies Subject
})

/** The HTTP side of the service and the worker that sends webhooks, over a database of its own with the same past. */
export const sending = Effect.fnUntraced(function* (postgres: Postgres, { rows, directory, profileDirectory, tell }: Options) {
  const databaseUrl = yield* postgres.database
  const server = yield* api(databaseUrl, path.join(directory, "sending"), profileDirectory, true)
  return { server, databaseUrl, keys: yield* unreachable(Effect.provide(filled(rows, tell), Fill.client(databaseUrl))) } satisfies Whole
})

/** The service with all of its workers and such a node, over a database of its own with the same past. */
export const settling = Effect.fnUntraced(function* (postgres: Postgres, { rows, directory, profileDirectory, tell }: Options) {
  const databaseUrl = yield* postgres.database
  const env = environment(databaseUrl, path.join(directory, "settling"))
  const program = yield* Program.fork("settlingProgram", { env, nodeArgs: profiled(profileDirectory) })
  const { port } = yield* Program.message(program, Program.Listening)
  const sql = yield* unreachable(client(databaseUrl))
  const keys = yield* Effect.provideService(filled(rows, tell), SqlClient.SqlClient, sql)
  const report = (run: Reports.Run) => Effect.sync(() => void program.child.send(run))
  return { server: { port, pid: program.pid }, databaseUrl, keys, report, sql } satisfies Settling
})

/** Starts the whole service, and gives it the same companies. */
export const whole = Effect.fnUntraced(function* (
  postgres: Postgres,
  directory: string,
  profileDirectory: string | undefined,
  env: Readonly<Record<string, string>> = {}
) {
  const databaseUrl = yield* postgres.database
  const server = yield* Service.start({
    directory: path.join(directory, "whole"),
    databaseUrl,
    profileDirectory,
    env: { SATRAIL_RECONCILE_SECONDS: "86400", ...env }
  })
  const keys = yield* Effect.provide(Fill.companies, Fill.client(databaseUrl)).pipe(unreachable)
  return { server, keys, databaseUrl } satisfies Whole
})
