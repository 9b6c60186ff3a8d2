import type * as Pglite from "@electric-sql/pglite"
import type { messages, PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Away from "./Away.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import * as EmptyDatabase from "./EmptyDatabase.ts"
import { compiler } from "./PgClient.ts"
import { type Ask, connection, failed, Patience, type Query, unanswered } from "./PgConnection.ts"

/** A data directory. Without one, the database is kept in memory. */
export interface Options extends Away.Options {
  readonly directory?: string | undefined
}

type Module = Pick<typeof Pglite, "PGlite" | "parse" | "protocol">

/** What the session knows about a statement that it has parsed. */
interface Parsed {
  readonly description: ReadonlyArray<messages.BackendMessage>
  readonly serializers: ReadonlyArray<((value: unknown) => string) | undefined>
}

/** Runs named statements. Each is parsed once, so that the session keeps its plan. */
const prepared = (database: PGlite, { protocol: { serialize }, parse }: Module) => {
  const known = new Map<string, Parsed>()
  const send = async (...parts: ReadonlyArray<Uint8Array>) => {
    const all = Buffer.concat([...parts, serialize.sync()])
    const { messages } = await database.execProtocol(all, { throwOnError: false })
    const error = messages.find(({ name }) => name === "error")
    if (error !== undefined) throw error
    return messages
  }
  const parsed = async (name: string, text: string) => {
    const described = serialize.describe({ type: "S", name })
    const description = await send(serialize.parse({ name, text }), described)
    const types = parse.parseDescribeStatementResults([...description])
    const statement = { description, serializers: types.map((type) => database.serializers[type]) }
    known.set(name, statement)
    return statement
  }
  return (name: string, query: Query) =>
    database.runExclusive(async () => {
      const { text, values = [], rowMode = "object" } = query
      const { description, serializers } = known.get(name) ?? (await parsed(name, text))
      const texts = values.map((value, at) =>
        value === null || value === undefined ? null : (serializers[at]?.(value) ?? String(value))
      )
      const answer = await send(serialize.bind({ statement: name, values: texts }), serialize.execute())
      return parse.parseResults([...description, ...answer], database.parsers, { rowMode })[0]
    })
}

/** Sends statements to a database. Without values, an unnamed text may contain several, as a migration does. */
const asking = (database: PGlite, module: Module): Ask => {
  const run = prepared(database, module)
  const answered = async (query: Query) => {
    const { name, text, values = [], rowMode = "object" } = query
    if (name !== undefined) return run(name, query)
    if (values.length > 0) return database.query<never>(text, values, { rowMode })
    return (await database.exec(text, { rowMode })).at(-1)
  }
  return (query) =>
    Effect.tryPromise({
      try: async () => (await answered(query)) ?? { rows: [] },
      catch: (cause) => failed(cause, "query")
    })
}

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
    try: (): Module => EmptyDatabase.load("@electric-sql/pglite"),
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

/** Settings of the session. A named statement is planned once, as on a server after a few executions. */
const settings = ["enable_seqscan = off", "plan_cache_mode = force_generic_plan"]

/** A `SqlClient` over PostgreSQL in this process. Only one process may open a directory at a time. */
export const layer = ({ directory, isAway }: Options = {}): Layer.Layer<
  SqlClient.SqlClient,
  DirectoryLock.DirectoryLocked | DirectoryLock.DirectoryUnusable
> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const module = yield* load
      if (directory !== undefined) yield* DirectoryLock.hold(directory)
      const database = yield* Effect.acquireRelease(
        Effect.promise(() => module.PGlite.create(placed(directory))),
        (database) => Effect.promise(() => database.close())
      )
      const permit = yield* Semaphore.make(1)
      const ask = asking(database, module)
      const one = connection(ask)
      const reachable = Away.unless({ isAway })
      for (const setting of settings)
        yield* Effect.orDie(one.executeUnprepared(`set ${setting}`, [], undefined))
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
