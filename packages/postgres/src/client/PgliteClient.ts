import type { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Away from "./Away.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import * as EmptyDatabase from "./EmptyDatabase.ts"
import { compiler } from "./PgClient.ts"
import { Patience, unanswered } from "./PgConnection.ts"
import { reasonOf } from "./PgError.ts"

/** A data directory. Without one, the database is kept in memory. */
export interface Options extends Away.Options {
  readonly directory?: string | undefined
}

const attempt = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (cause) => new SqlError.SqlError({ reason: reasonOf(cause, "query") }) })

const connection = (database: PGlite): SqlConnection.Connection => {
  const rows = (text: string, values: ReadonlyArray<unknown>, rowMode: "array" | "object") =>
    Effect.map(
      attempt(() => database.query<never>(text, [...values], { rowMode })),
      ({ rows }) => rows
    )
  const self: SqlConnection.Connection = {
    execute: (text, values, transform) =>
      transform === undefined ? rows(text, values, "object") : Effect.map(rows(text, values, "object"), transform),
    // Without values, the text may contain several statements, as a migration does.
    executeUnprepared: (text, values, transform) =>
      values.length === 0
        ? Effect.as(
            attempt(() => database.exec(text)),
            []
          )
        : self.execute(text, values, transform),
    executeRaw: (text, values) => attempt(() => database.query(text, [...values])),
    executeValues: (text, values) => rows(text, values, "array"),
    executeValuesUnprepared: (text, values) => rows(text, values, "array"),
    executeStream: (text, values, transform) => Stream.fromIterableEffect(self.execute(text, values, transform))
  }
  return self
}

/**
 * One permit for the single connection: a statement holds it while it runs, and a transaction until it ends. A read
 * stops waiting after its `Patience`.
 */
const sharing = (one: SqlConnection.Connection, permit: Semaphore.Semaphore): SqlConnection.Connection => {
  const alone = <A>(ask: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.flatMap(Patience, (millis) =>
      millis === Infinity
        ? permit.withPermit(ask)
        : Effect.timeoutOrElse(permit.withPermit(ask), { duration: millis, orElse: () => Effect.fail(unanswered(millis)) })
    )
  return {
    execute: (...ask) => alone(one.execute(...ask)),
    executeUnprepared: (...ask) => alone(one.executeUnprepared(...ask)),
    executeRaw: (...ask) => alone(one.executeRaw(...ask)),
    executeValues: (...ask) => alone(one.executeValues(...ask)),
    executeValuesUnprepared: (...ask) => alone(one.executeValuesUnprepared(...ask)),
    executeStream: (text, values, transform) => Stream.fromIterableEffect(alone(one.execute(text, values, transform)))
  }
}

/** Loaded on demand, because services that use a server don't need the package's 27 MB. */
const load = Effect.orDie(
  Effect.tryPromise({
    try: () => import("@electric-sql/pglite"),
    catch: (cause) => new Error("The embedded database is a separate package: npm install @electric-sql/pglite", { cause })
  })
)

/** Returns where PGlite keeps a database. Creates the database there if there is none. */
const placed = (directory: string | undefined) => {
  if (directory === undefined) return { loadDataDir: new Blob([EmptyDatabase.archive()]) }
  const dataDir = join(directory, "data")
  if (!existsSync(dataDir)) EmptyDatabase.unpack(dataDir)
  return { dataDir }
}

/** A `SqlClient` over PostgreSQL in this process. Only one process may open a directory at a time. */
export const layer = ({ directory, isAway }: Options = {}): Layer.Layer<
  SqlClient.SqlClient,
  DirectoryLock.DirectoryLocked | DirectoryLock.DirectoryUnusable
> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const { PGlite } = yield* load
      if (directory !== undefined) yield* DirectoryLock.hold(directory)
      const database = yield* Effect.acquireRelease(
        Effect.promise(() => PGlite.create(placed(directory))),
        (database) => Effect.promise(() => database.close())
      )
      const permit = yield* Semaphore.make(1)
      const one = connection(database)
      const reachable = Away.unless({ isAway })
      yield* Effect.orDie(one.executeUnprepared("set enable_seqscan = off", [], undefined))
      return yield* SqlClient.make({
        driver: "pg",
        acquirer: reachable(Effect.succeed(sharing(one, permit))),
        transactionAcquirer: reachable(
          Effect.as(
            Effect.acquireRelease(permit.take(1), () => permit.release(1)),
            one
          )
        ),
        compiler,
        spanAttributes: [["db.system.name", "postgresql"]]
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
