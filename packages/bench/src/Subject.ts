import { Effect, Layer, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import path from "node:path"
import * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import * as Load from "./Load.ts"
import type { Pgbench } from "./Pgbench.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Requests from "./Requests.ts"
import * as Service from "./Service.ts"

/** Runs a load. Fails if any response is bad, because the rate would then be meaningless. */
export type Generator = (load: Load.Load) => Effect.Effect<Load.Outcome, Program.BenchFailed>

/** Starts a load generator in its own process. */
export const generator: Effect.Effect<Generator, Program.BenchFailed, Scope.Scope> = Effect.map(
  Program.fork("loadProgram"),
  (program) => (load) =>
    Effect.flatMap(Program.ask(program, load, Load.Outcome), (outcome) => {
      const { bad, answered, firstBad } = outcome
      if (bad === 0) return Effect.succeed(outcome)
      return Effect.fail(
        new Program.BenchFailed({
          message: `${bad} bad responses and ${answered} good ones; the first: ${firstBad}`
        })
      )
    })
)

/** The settings of a run. */
export interface Bench {
  readonly generator: Generator
  readonly directory: string
  /** Node options for the measured processes, such as those that write CPU profiles. */
  readonly nodeArgs: ReadonlyArray<string>
  readonly seconds: number
  readonly rounds: number
  readonly wanted: (operation: string) => boolean
  readonly tell: (line: string) => void
}

/** Starts a program or fills a database when it is first used. */
export type Lazy<A> = Effect.Effect<A, Program.BenchFailed>

/** Returns an effect that starts something when it is first used and keeps it until the current scope closes. */
export const lazily = <A>(
  make: Effect.Effect<A, Program.BenchFailed, Scope.Scope>
): Effect.Effect<Lazy<A>, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Effect.cached(Scope.provide(make, scope)))

/** A measured subject: a filled database and programs that use it. */
export interface Subject extends Pick<Bench, "seconds" | "generator"> {
  readonly server: Program.Server
  /**
   * Serves requests of many companies. After that, it limits each company's concurrent requests for another
   * minute (http/src/edge/Lanes.ts), so loads of a single company use `server` instead.
   */
  readonly shared: Lazy<Program.Server>
  readonly journal: Lazy<{
    readonly pid: number
    readonly drive: (drive: Drive.Drive) => Effect.Effect<Drive.Outcome, Program.BenchFailed>
  }>
  readonly keys: ReadonlyArray<string>
  readonly requests: Requests.Requests
  readonly sql: <A, E extends { readonly message: string }>(
    use: Effect.Effect<A, E, SqlClient.SqlClient>
  ) => Effect.Effect<A, Program.BenchFailed>
  readonly pgbench: Pgbench
  /** The number of WAL bytes written by the database server, and of statements sent to this database. */
  readonly spent: Effect.Effect<
    { readonly walBytes: number | undefined; readonly statements: number | undefined },
    Program.BenchFailed
  >
}

export interface Options {
  /** Names the folder that contains the subject's files. */
  readonly name: string
  readonly rows: number
  /** The workers that run in addition to HTTP. "shipped" is the complete service as started by `npm start`. */
  readonly workers?: "features" | "shipped"
  /** The folder with this package's sources in another build. */
  readonly sources?: string
}

const environment = (databaseUrl: string, directory: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  DATABASE_URL: databaseUrl,
  SATRAIL_DATA: directory,
  ...Program.surroundings(directory),
  PORT: "0",
  SATRAIL_REQUESTS_PER_KEY: "0",
  SATRAIL_REQUESTS_PER_STRANGER: "0",
  // The node never paid the payments in the history.
  SATRAIL_RECONCILE_SECONDS: "86400",
  SATRAIL_REQUEST_LOG: "no"
})

/** Creates a database, lets the service create its tables, and fills it. */
export const make = Effect.fnUntraced(function* (
  postgres: Postgres,
  { generator, directory: parent, nodeArgs, seconds, tell }: Bench,
  { name, rows, workers, sources }: Options
): Effect.fn.Return<Subject, Program.BenchFailed, Scope.Scope> {
  const directory = path.join(parent, name)
  const url = yield* postgres.database
  const env = environment(url, directory)
  const serve = (more: NodeJS.ProcessEnv = {}) =>
    Program.server("apiProgram", { env: { ...env, ...more }, nodeArgs, sources })
  const shipped = Service.start({
    directory,
    databaseUrl: url,
    nodeArgs,
    env: { SATRAIL_RECONCILE_SECONDS: "86400" }
  })
  const server = yield* workers === "shipped" ? shipped : serve({ BENCH_WORKERS: workers })
  const client = yield* Program.failed(Layer.build(Fill.client(url)))
  const sql: Subject["sql"] = (use) => Program.failed(Effect.provideContext(use, client))
  const keys = yield* sql(Fill.companies)
  if (rows > 0)
    yield* sql(
      Fill.history(rows, (loaded) =>
        tell(`${name}: ${loaded.toLocaleString("en")} of ${rows.toLocaleString("en")} rows`)
      )
    )
  const counted = yield* sql(Fill.countStatements)
  return {
    seconds,
    generator,
    server,
    shared: yield* lazily(serve()),
    journal: yield* lazily(
      Effect.map(Program.fork("journalProgram", { env, nodeArgs }), (program) => ({
        pid: program.pid,
        drive: (drive: Drive.Drive) => Program.ask(program, drive, Drive.Outcome)
      }))
    ),
    keys,
    requests: Requests.make(keys),
    sql,
    pgbench: { program: postgres.pgbench, url, directory: parent },
    spent: Effect.all({
      walBytes: sql(Fill.walBytes),
      statements: counted ? sql(Fill.statements) : Effect.succeed(undefined)
    })
  }
})
