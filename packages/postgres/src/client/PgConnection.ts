import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import { setTimeout as pause } from "node:timers/promises"
import Pg from "pg"
import { reasonOf } from "./PgError.ts"

// A named statement is parsed and planned once per connection. Each text has a name. There are few texts,
// because values are parameters. Names have a prefix, because a host's statements on the same connections
// have names too.
const names = new Map<string, string>()
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `satrail_${names.size}`
  names.set(text, name)
  return name
}

/** `query_timeout` is enforced by the client: the maximum wait for any response. */
type Query = Pg.QueryConfig & { readonly rowMode?: "array"; readonly query_timeout?: number }

/** Runs a query on some connection. */
export type Ask = (query: Query) => Effect.Effect<Pg.QueryResult, SqlError.SqlError>

/** Wraps an error of the database, or of the connection to it. */
export const failed = (cause: unknown, operation: string) => new SqlError.SqlError({ reason: reasonOf(cause, operation) })

/** Returns the settings for reaching a connection's server, to cancel a query there. */
export type SettingsOf = (client: Pg.ClientBase) => Pg.ClientConfig

/**
 * Closes an unused connection politely. A vanished machine doesn't respond, so the connection is closed anyway
 * after `millis`.
 */
export const leave = (client: Pg.Client, millis: number): void => {
  client.on("error", () => {}) // nothing uses it now
  client.end(() => {})
  setTimeout(() => client.connection.stream.destroy(), millis).unref()
}

/** Timeouts of a cancellation (for connecting, and for the end of the query), and the pause between attempts. */
const cancelMillis = { connect: 5000, end: 5000, again: 100 }

/**
 * Cancels the query of this connection at the server. No other query can be running there, because the
 * connection is released only afterwards. The server ignores a cancellation between two messages of a query,
 * and a function can catch it, so it is repeated until the query has ended.
 */
const cancel = async (settings: Pg.ClientConfig, pid: number, answered: Promise<void>): Promise<void> => {
  const patience = { connectionTimeoutMillis: cancelMillis.connect, query_timeout: cancelMillis.connect }
  const other = new Pg.Client({ ...settings, ...patience })
  other.on("error", () => {}) // the query below fails with the same error
  const ended = answered.then(() => true)
  try {
    await other.connect()
    for (let left = cancelMillis.end / cancelMillis.again; left > 0; left--) {
      await other.query("select pg_cancel_backend($1)", [pid])
      if (await Promise.race([ended, pause(cancelMillis.again, false)])) return
    }
  } catch {
    // If the server is unreachable, its response isn't awaited and the connection is closed.
  } finally {
    leave(other, cancelMillis.connect)
  }
}

const sessions = new WeakMap<Pg.ClientBase, number>()

/**
 * Stores the server's process id for a connection's session. A pooler in session mode reports a different one
 * when the connection is opened.
 */
export const remember = (client: Pg.ClientBase, pid: number): void => void sessions.set(client, pid)

// If the wait for a synchronous standby is interrupted, the server commits locally, warns, and then reports
// success.
const unwaited = new WeakSet<Pg.ClientBase>()

/**
 * From now on, a commit on this connection that did not wait for its standby is not reported as a success.
 */
export const hear = (client: Pg.ClientBase): void => {
  client.on("error", () => {}) // the running query receives it too
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unwaited.add(client)
  })
}

const unknown = () => Object.assign(new Error("the commit did not wait for the standby: a failover may lose it"), { code: "40003" })

/** Runs queries on one connection. An interruption cancels the query at the server and waits for its end. */
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

/** Implements Effect's connection. */
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
