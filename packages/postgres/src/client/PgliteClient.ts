import type { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Away from "./Away.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import * as EmptyDatabase from "./EmptyDatabase.ts"
import { compiler } from "./PgClient.ts"
import { type Ask, connection, failed, Patience, unanswered } from "./PgConnection.ts"

/** A data directory. Without one, the database is kept in memory. */
export interface Options extends Away.Options {
  readonly directory?: string | undefined
}

/** Sends statements to a database. Without values, an unprepared text may contain several, as a migration does. */
const asking =
  (database: PGlite): Ask =>
  ({ name, text, values = [], rowMode = "object" as const }) =>
    Effect.tryPromise({
      try: async () =>
        name === undefined && values.length === 0
          ? ((await database.exec(text, { rowMode })).at(-1) ?? { rows: [] })
          : await database.query<never>(text, values, { rowMode }),
      catch: (cause) => failed(cause, "query")
    })

/**
 * One permit for the single connection: a statement holds it while it runs, and a transaction until it ends. A read
 * stops waiting after its `Patience`.
 */
const sharing =
  (ask: Ask, permit: Semaphore.Semaphore): Ask =>
  (query) =>
    Effect.flatMap(Patience, (millis) => {
      const alone = permit.withPermit(ask(query))
      return millis === Infinity
        ? alone
        : Effect.timeoutOrElse(alone, { duration: millis, orElse: () => Effect.fail(unanswered(millis)) })
    })

/**
 * Loaded on demand, because services that use a server don't need the package's 27 MB, and hidden from bundlers, because
 * it reads .wasm files next to its code.
 */
const load = Effect.orDie(
  Effect.try({
    try: (): { readonly PGlite: typeof PGlite } => EmptyDatabase.load("@electric-sql/pglite"),
    catch: (cause) =>
      new Error("The embedded database is a separate package: npm install @electric-sql/pglite", { cause })
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
      const ask = asking(database)
      const one = connection(ask)
      const reachable = Away.unless({ isAway })
      yield* Effect.orDie(one.executeUnprepared("set enable_seqscan = off", [], undefined))
      return yield* SqlClient.make({
        driver: "pg",
        acquirer: reachable(Effect.succeed(connection(sharing(ask, permit)))),
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
