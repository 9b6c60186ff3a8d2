import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import { setTimeout as pause } from "node:timers/promises"
import Pg from "pg"
import { reasonOf } from "./PgError.ts"

// A named statement is parsed and planned once a connection. Names are per text; texts are few, because values are parameters.
// A host's own statements on the same connections have names too: ours begin with a prefix of their own.
const names = new Map<string, string>()
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `satrail_${names.size}`
  names.set(text, name)
  return name
}

/** `query_timeout` is ours, not the server's: how long we wait for an answer at all. */
type Query = Pg.QueryConfig & { readonly rowMode?: "array"; readonly query_timeout?: number }

/** Asks on some connection. */
export type Ask = (query: Query) => Effect.Effect<Pg.QueryResult, SqlError.SqlError>

/** What an error on the way to the database, or of it, is called here. */
export const failed = (cause: unknown, operation: string) => new SqlError.SqlError({ reason: reasonOf(cause, operation) })

/** How the server of a connection is reached, to have a query there ended from outside. */
export type SettingsOf = (client: Pg.ClientBase) => Pg.ClientConfig

/** Says goodbye on a connection that nothing is waited for on. A machine that is gone does not answer that either: after so long it is closed all the same. */
export const leave = (client: Pg.Client, millis: number): void => {
  client.on("error", () => {}) // nobody asks on it any more
  client.end(() => {})
  setTimeout(() => client.connection.stream.destroy(), millis).unref()
}

/** How long the way to the server may take, and then the end of the query; and after which pause it is asked for again. */
const cancelMillis = { connect: 5000, end: 5000, again: 100 }

/**
 * Has the server end what this connection is doing. Nothing else can be running there: the connection is released only after this. The server
 * drops a cancel that comes between two messages of one query, and a function can catch one: so it is asked again until the query has ended.
 */
const cancel = async (settings: Pg.ClientConfig, pid: number, answered: Promise<void>): Promise<void> => {
  const patience = { connectionTimeoutMillis: cancelMillis.connect, query_timeout: cancelMillis.connect }
  const other = new Pg.Client({ ...settings, ...patience })
  other.on("error", () => {}) // the answer to the query below says it too
  const ended = answered.then(() => true)
  try {
    await other.connect()
    for (let left = cancelMillis.end / cancelMillis.again; left > 0; left--) {
      await other.query("select pg_cancel_backend($1)", [pid])
      if (await Promise.race([ended, pause(cancelMillis.again, false)])) return
    }
  } catch {
    // It cannot be reached: then its answer will not be waited for, and the connection is closed.
  } finally {
    leave(other, cancelMillis.connect)
  }
}

const sessions = new WeakMap<Pg.ClientBase, number>()

/** Remembers the process id of a connection's session at the server. A pooler in session mode names another one when a connection is opened. */
export const remember = (client: Pg.ClientBase, pid: number): void => void sessions.set(client, pid)

// Where a commit's wait for its synchronous standby is ended, the server commits on its own, warns, and then says that all is well.
const unwaited = new WeakSet<Pg.ClientBase>()

/** From here on a commit on this connection that did not wait for its standby is not taken for one. */
export const hear = (client: Pg.ClientBase): void => {
  client.on("error", () => {}) // whoever asks on it hears of it too
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unwaited.add(client)
  })
}

const unknown = () => Object.assign(new Error("the commit did not wait for the standby: a failover may lose it"), { code: "40003" })

/** Asks on one connection. Who is interrupted has the query ended at the server, and waits until it is. */
export const asking =
  (client: Pg.ClientBase & { readonly processID?: number | null }, settingsOf: SettingsOf): Ask =>
  (query) =>
    Effect.callback((resume) => {
      const answered = Promise.withResolvers<void>()
      client.query(query, (error: Error | null, result) => {
        answered.resolve()
        const problem = unwaited.delete(client) ? unknown() : error
        resume(problem === null ? Effect.succeed(result) : Effect.fail(failed(problem, "query")))
      })
      return Effect.promise(async () => {
        const pid = sessions.get(client) ?? client.processID
        if (typeof pid === "number") await cancel(settingsOf(client), pid, answered.promise)
      })
    })

/** What effect asks of a connection. */
export const connection = (ask: Ask): SqlConnection.Connection => {
  const rows = (query: Query) => Effect.map(ask(query), (result) => result.rows)
  const self: SqlConnection.Connection = {
    execute: (text, values, transform) => {
      const found = rows({ name: nameOf(text), text, values: [...values] })
      return transform === undefined ? found : Effect.map(found, transform)
    },
    executeUnprepared: (text, values, transform) => {
      const found = rows({ text, values: [...values] })
      return transform === undefined ? found : Effect.map(found, transform)
    },
    executeRaw: (text, values) => ask({ text, values: [...values] }),
    executeValues: (text, values) => rows({ name: nameOf(text), text, values: [...values], rowMode: "array" }),
    executeValuesUnprepared: (text, values) => rows({ text, values: [...values], rowMode: "array" }),
    executeStream: (text, values, transform) => Stream.fromIterableEffect(self.execute(text, values, transform))
  }
  return self
}
