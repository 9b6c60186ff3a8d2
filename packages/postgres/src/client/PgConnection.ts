import { Context, Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import { setTimeout as pause } from "node:timers/promises"
import Pg from "pg"
import * as Limits from "./Limits.ts"
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

/** A statement. A named one is parsed once per connection. */
export type Query = Pg.QueryConfig & { readonly rowMode?: "array" }

/** Runs a query on some connection. */
export type Ask = (query: Query) => Effect.Effect<Pick<Pg.QueryResult, "rows">, SqlError.SqlError>

/**
 * Maximum wait for the response to a read, in milliseconds. Then the read is canceled. Don't set it for writes: a
 * commit that waits for its standby would become visible before it is replicated.
 */
export const Patience = Context.Reference<number>("@satrail/postgres/client/PgConnection/Patience", {
  defaultValue: () => Infinity
})

/** Returns whether a statement changes rows or locks them. */
export const writes = (text: string): boolean => /\b(?:insert|update|delete|merge)\b/i.test(text)

/** Wraps an error of the database, or of the connection to it. */
export const failed = (cause: unknown, operation: string) =>
  new SqlError.SqlError({ reason: reasonOf(cause, operation) })

class NoResponse extends Error {}

/** The error of a query without a response within this time. */
export const unanswered = (millis: number) =>
  failed(new NoResponse(`no response within ${millis} ms`), "query")

export const isUnanswered = ({ reason }: SqlError.SqlError): boolean => reason.cause instanceof NoResponse

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
const cancel = async (
  settings: () => Pg.ClientConfig,
  pid: number,
  answered: Promise<void>
): Promise<void> => {
  const patience = { connectionTimeoutMillis: cancelMillis.connect, query_timeout: cancelMillis.connect }
  const ended = answered.then(() => true)
  let other: Pg.Client | undefined
  try {
    other = new Pg.Client({ ...settings(), ...patience })
    other.on("error", () => {}) // the query below fails with the same error
    await other.connect()
    const endMillis = performance.now() + cancelMillis.end
    while (performance.now() < endMillis) {
      await other.query("select pg_cancel_backend($1)", [pid])
      if (await Promise.race([ended, pause(cancelMillis.again, false)])) return
    }
  } catch {
    // If the server is unreachable, its response isn't awaited and the connection is closed.
  } finally {
    if (other !== undefined) leave(other, cancelMillis.connect)
  }
}

/** What is known about a connection. */
interface Session {
  /** The server's process, if it is not the one that was reported when the connection was opened. */
  pid: number | undefined
  /** Whether a commit was not replicated: the wait for a synchronous standby was interrupted. */
  isUnwaited: boolean
  readonly limit: Limits.Limit
}

const sessions = new WeakMap<Pg.ClientBase, Session>()

const sessionOf = (client: Pg.ClientBase): Session => {
  const known = sessions.get(client)
  if (known !== undefined) return known
  const limit = Limits.make()
  client.once("end", limit.close)
  const session: Session = { pid: undefined, isUnwaited: false, limit }
  sessions.set(client, session)
  return session
}

/**
 * Stores the server's process id for a connection's session. A pooler in session mode reports a different one
 * when the connection is opened.
 */
export const remember = (client: Pg.ClientBase, pid: number): void => void (sessionOf(client).pid = pid)

/** Returns the server's process id of a connection. */
export const pidOf = (client: Pg.ClientBase & { readonly processID?: number | null }): number | undefined =>
  sessionOf(client).pid ?? client.processID ?? undefined

/**
 * From now on, a commit on this connection that did not wait for its standby is not reported as a success. (If
 * the wait is interrupted, the server commits locally, warns, and then reports success.)
 */
export const hear = (client: Pg.ClientBase): void => {
  const session = sessionOf(client)
  client.on("error", () => {}) // the running query receives it too
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") session.isUnwaited = true
  })
}

const unknown = () =>
  Object.assign(new Error("the commit did not wait for the standby: a failover may lose it"), {
    code: "40003"
  })

/**
 * Runs queries on one connection. A query that is interrupted, or gets no response within `patienceMillis`, is canceled
 * at the server, if `settingsOf` is given, and its end is awaited for a few seconds. Then the connection must not be
 * used again. After `limitMillis`, a query fails without being canceled, because it may be a commit.
 */
export const asking = (
  client: Pg.ClientBase & { readonly processID?: number | null },
  settingsOf?: SettingsOf,
  {
    limitMillis = Infinity,
    patienceMillis = Infinity
  }: { readonly limitMillis?: number; readonly patienceMillis?: number } = {}
): Ask => {
  const session = sessionOf(client)
  return (query) =>
    Effect.callback((resume) => {
      let onAnswer = () => {}
      let canceling: Promise<void> | undefined
      const canceled = (): Promise<void> => {
        const pid = pidOf(client)
        if (pid === undefined || settingsOf === undefined) return Promise.resolve()
        const { promise: answered, resolve } = Promise.withResolvers<void>()
        onAnswer = resolve
        return cancel(() => settingsOf(client), pid, answered)
      }
      const late = () => {
        if (patienceMillis >= limitMillis) return resume(Effect.fail(unanswered(limitMillis)))
        canceling ??= canceled()
        void canceling.then(() => resume(Effect.fail(unanswered(patienceMillis))))
      }
      const millis = Math.min(patienceMillis, limitMillis)
      if (millis < Infinity) session.limit.begin(millis, late)
      client.query(query, (error: Error | null, result) => {
        session.limit.end()
        onAnswer()
        const problem = session.isUnwaited ? unknown() : error
        session.isUnwaited = false
        // While it is being canceled, the connection must not be released.
        if (canceling !== undefined) return
        // A text with several statements has a list of results.
        const last: Pg.QueryResult = Array.isArray(result) ? result.at(-1) : result
        resume(problem === null ? Effect.succeed(last) : Effect.fail(failed(problem, "query")))
      })
      return Effect.promise(() => {
        session.limit.end()
        return (canceling ??= canceled())
      })
    })
}

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
    executeValues: (text, values) =>
      rows({ name: nameOf(text), text, values: [...values], rowMode: "array" }),
    executeValuesUnprepared: (text, values) => rows({ text, values: [...values], rowMode: "array" }),
    executeStream: (text, values, transform) =>
      Stream.fromIterableEffect(self.execute(text, values, transform))
  }
  return self
}
