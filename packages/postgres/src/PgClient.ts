import type { Words } from "@satrail/core/base/Outage"
import { Cause, Effect, Exit, Layer, Option, Redacted, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { setTimeout } from "node:timers/promises"
import Pg from "pg"
import * as SqlState from "./SqlState.ts"

/** Where the database is, and what this process may ask of it. */
export interface Options {
  /**
   * `postgres://user:password@host:port/name`. For TLS add `?sslmode=verify-full`, and `&sslrootcert=FILE` where the authority that signed
   * the server's certificate is not one that Node knows.
   */
  readonly url: Redacted.Redacted
  /** Default 10. */
  readonly maxConnections?: number | undefined
  /** How long a statement may run before the server ends it: an outage. Default 30 000; counting everything and migrating take what they take. */
  readonly statementTimeoutMillis?: number | undefined
  /** How long it may wait for a row that another transaction has locked. Default 10 000. */
  readonly lockTimeoutMillis?: number | undefined
}

/** The database did not answer when the program started, or did not let it in. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  /** Where it was looked for: never its password. */
  where: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const { where } = this
    const why = messageOf(this.cause)
    const code = codeOf(this.cause)
    if (code?.startsWith("28") === true) return `The database at ${where} does not let this user in: ${why}. Are user and password right?`
    if (isCertificate(code))
      return `The server at ${where} shows a certificate that is not trusted: ${why}. Is sslrootcert the authority that signed it?`
    if (code === "3D000") return `The server at ${where} has no database of this name: ${why}. Create it, or name another one.`
    return `No database answers at ${where}: ${why}. Is it running, and is the address right?`
  }
}

const Problem = Schema.Struct({
  code: Schema.optional(Schema.String),
  message: Schema.optional(Schema.String),
  constraint: Schema.optional(Schema.String)
})

const problemOf = (cause: unknown) => Option.getOrElse(Schema.decodeUnknownOption(Problem)({ ...Object(cause) }), () => Problem.make({}))

const codeOf = (cause: unknown): string | undefined => problemOf(cause).code

// https://nodejs.org/api/tls.html#x509-certificate-error-codes
const isCertificate = (code: string | undefined) => code !== undefined && /CERT|ERR_TLS/.test(code)

// A host name with several addresses fails with one error for each, and says nothing itself.
const messageOf = (cause: unknown): string =>
  cause instanceof AggregateError && cause.message === ""
    ? cause.errors.map(messageOf).join("; ")
    : cause instanceof Error
      ? cause.message
      : String(cause)

/** PostgreSQL's error as one of Effect's reasons: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const reasonOf = (cause: unknown, operation: string): SqlError.SqlError["reason"] => {
  const { code, constraint } = problemOf(cause)
  const props = { cause, operation, message: messageOf(cause) }
  // Our own mistake, such as a value that cannot be sent; what the network or the pool says has another class.
  if (cause instanceof TypeError || cause instanceof RangeError) return new SqlError.UnknownError(props)
  switch (SqlState.meaningOf(code).tag) {
    case "ConnectionError":
      return new SqlError.ConnectionError(props)
    case "UniqueViolation":
      return new SqlError.UniqueViolation({ ...props, constraint: constraint ?? "unknown" })
    case "ConstraintError":
      return new SqlError.ConstraintError(props)
    case "AuthenticationError":
      return new SqlError.AuthenticationError(props)
    case "AuthorizationError":
      return new SqlError.AuthorizationError(props)
    case "DeadlockError":
      return new SqlError.DeadlockError(props)
    case "SerializationError":
      return new SqlError.SerializationError(props)
    case "SqlSyntaxError":
      return new SqlError.SqlSyntaxError(props)
    case "LockTimeoutError":
      return new SqlError.LockTimeoutError(props)
    case "StatementTimeoutError":
      return new SqlError.StatementTimeoutError(props)
    case "UnknownError":
      return new SqlError.UnknownError(props)
  }
}

/** The message to the operator about an error of the database or of the way to it. */
export const wordsOf = ({ reason: { cause } }: SqlError.SqlError): Words => {
  const { reason, remedy } = SqlState.meaningOf(codeOf(cause), messageOf(cause))
  return { ...(reason !== undefined && { reason }), ...(remedy !== undefined && { remedy }) }
}

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
type Ask = (query: Query) => Effect.Effect<Pg.QueryResult, SqlError.SqlError>

const failed = (cause: unknown, operation: string) => new SqlError.SqlError({ reason: reasonOf(cause, operation) })

/** What is needed to have a query ended from outside. */
interface Canceller {
  readonly settings: Pg.ClientConfig
}

/** How long the way to the server may take, and then the end of the query; and after which pause it is asked for again. */
const cancelMillis = { connect: 5000, end: 5000, again: 100 }

/**
 * Has the server end what this connection is doing. Nothing else can be running there: the connection is released only after this. The server
 * drops a cancel that comes between two messages of one query, and a function can catch one: so it is asked again until the query has ended.
 */
const cancel = async ({ settings }: Canceller, pid: number, answered: Promise<void>): Promise<void> => {
  const { password } = settings // a pool hides it from copies
  const secret = password === undefined ? {} : { password }
  const patience = { connectionTimeoutMillis: cancelMillis.connect, query_timeout: cancelMillis.connect }
  const other = new Pg.Client({ ...settings, ...secret, ...patience })
  other.on("error", () => {}) // the answer to the query below says it too
  const ended = answered.then(() => true)
  try {
    await other.connect()
    for (let left = cancelMillis.end / cancelMillis.again; left > 0; left--) {
      await other.query("select pg_cancel_backend($1)", [pid])
      if (await Promise.race([ended, setTimeout(cancelMillis.again, false)])) return
    }
  } catch {
    // It cannot be reached: then its answer will not be waited for, and the connection is closed.
  } finally {
    await other.end().catch(() => {})
  }
}

/** Asks on one connection. Who is interrupted has the query ended at the server, and waits until it is. */
const asking =
  (client: Pg.ClientBase & { readonly processID?: number | null }, canceller: Canceller): Ask =>
  (query) =>
    Effect.callback((resume) => {
      const answered = Promise.withResolvers<void>()
      client.query(query, (error: Error | null, result) => {
        answered.resolve()
        resume(error === null ? Effect.succeed(result) : Effect.fail(failed(error, "query")))
      })
      return Effect.promise(async () => {
        if (typeof client.processID === "number") await cancel(canceller, client.processID, answered.promise)
      })
    })

const connection = (ask: Ask): SqlConnection.Connection => {
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

/** PostgreSQL, for whichever client. */
export const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (i) => `$${i}`,
  onIdentifier: Statement.defaultEscape('"'),
  onCustom: () => ["", []],
  onRecordUpdate: () => ["", []]
})

/**
 * A connection that broke, or whose query was broken off, is not used again. What the server merely refused leaves it as it was, unless it takes no writes any
 * more: then no connection that is open now leads to the one that does.
 */
const spoils = (exit: Exit.Exit<unknown, unknown>): SqlState.Meaning["drops"] => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) return "this"
  return SqlError.isSqlError(error) && error.reason._tag === "ConnectionError"
    ? SqlState.meaningOf(codeOf(error.reason.cause)).drops
    : undefined
}

/** Connections that were opened before an epoch began are not used in it. */
interface Epoch {
  current: number
  readonly opened: WeakMap<Pg.PoolClient, number>
}

/** The epochs of a pool, which may be a host's: it has connections that were never ours. */
const epochOf = (pool: Pg.Pool) => {
  const epoch: Epoch = { current: 0, opened: new WeakMap() }
  const note = (client: Pg.PoolClient) => void epoch.opened.set(client, epoch.current)
  return Effect.acquireRelease(
    Effect.sync(() => {
      pool.on("connect", note)
      return epoch
    }),
    () => Effect.sync(() => pool.off("connect", note))
  )
}

const defaultStatementTimeoutMillis = 30_000

// The server ends what takes too long; one that is gone without a word ends nothing.
const unansweredMillis = 5000

const pauseMillis = { minimum: 25, maximum: 1000 }

/**
 * Connections of a pool. While the server cannot be reached, one caller after a pause tries it again, and the pause grows: the others fail at once
 * with the last error.
 */
const connecting = (pool: Pg.Pool, epoch: Epoch): Effect.Effect<Pg.PoolClient, SqlError.SqlError> => {
  let failures = 0
  let blockedUntilMillis = 0
  let last = failed(new Error("not tried yet"), "connect")
  const heard = new WeakSet<Pg.PoolClient>()
  const fail = (cause: Error) => {
    // Too many of ours are waiting for each other: the server is there.
    if (cause.message.includes("timeout exceeded when trying to connect")) return failed(cause, "connect")
    last = failed(cause, "connect")
    blockedUntilMillis = performance.now() + Math.min(pauseMillis.maximum, pauseMillis.minimum * 2 ** failures++)
    return last
  }
  return Effect.suspend(() => {
    if (performance.now() < blockedUntilMillis) return Effect.fail(last)
    let given: Pg.PoolClient | undefined
    let isLeft = false
    const wait = Effect.callback<Pg.PoolClient, SqlError.SqlError>((resume) => {
      const take = (error: Error | null | undefined, client: Pg.PoolClient | undefined): void => {
        if (error !== undefined && error !== null) return resume(Effect.fail(fail(error)))
        if (client === undefined) return resume(Effect.die(new Error("the pool gave neither a connection nor an error")))
        failures = 0
        if (!heard.has(client)) {
          heard.add(client)
          client.on("error", () => {}) // whoever asks on it hears of it too
        }
        if ((epoch.opened.get(client) ?? 0) < epoch.current) {
          client.release(true)
          return pool.connect(take)
        }
        if (isLeft) return client.release()
        given = client
        return resume(Effect.succeed(client))
      }
      pool.connect(take)
    })
    return Effect.onExit(wait, (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return
        isLeft = true
        given?.release()
      })
    )
  })
}

const make = Effect.fnUntraced(function* (pool: Pg.Pool, statementTimeoutMillis = defaultStatementTimeoutMillis) {
  const epoch = yield* epochOf(pool)
  const connect = connecting(pool, epoch)
  const canceller: Canceller = { settings: pool.options }
  const release = (client: Pg.PoolClient, exit: Exit.Exit<unknown, unknown>) =>
    Effect.sync(() => {
      const drops = spoils(exit)
      if (drops === "all") epoch.current++
      client.release(drops !== undefined)
    })
  const single: Ask = (query) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(connect), (client) =>
        Effect.onExit(restore(asking(client, canceller)({ ...query, query_timeout: statementTimeoutMillis + unansweredMillis })), (exit) =>
          release(client, exit)
        )
      )
    )
  const reserved = Effect.acquireRelease(connect, release, { interruptible: true })
  return yield* SqlClient.make({
    driver: "pg",
    acquirer: Effect.succeed(connection(single)),
    transactionAcquirer: Effect.map(reserved, (client) => connection(asking(client, canceller))),
    compiler,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})

/** Fails when the database cannot be reached: a program reports that before it accepts requests. */
const answering = (where: string, sql: SqlClient.SqlClient) =>
  Effect.mapError(sql.unsafe("select 1").unprepared, ({ reason }) => new DatabaseUnreachable({ where, cause: reason.cause }))

// Every statement here goes by an index. Prepared on a still empty table it would be planned as a scan, and stay one until the next
// analyze. Compiling a statement (jit) takes a second for what runs in a millisecond.
const settings = "-c enable_seqscan=off -c jit=off"

// A process that stopped in the middle of a transaction must not keep others from its rows for ever.
const maxIdleInTransactionMillis = 60_000

/** A `SqlClient` over a host's own pool, which stays the host's to close. It runs best with `options: "-c enable_seqscan=off -c jit=off"`. */
export const layerPool = (pool: Pg.Pool): Layer.Layer<SqlClient.SqlClient, DatabaseUnreachable> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.tap(make(pool), (sql) => answering("the given pool", sql))
  ).pipe(Layer.provide(Reactivity.layer))

/** Host, port and name of the database. */
const whereOf = (url: string): string => {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname === "" ? "localhost" : hostname}:${port === "" ? 5432 : port}${pathname}`
}

/** Where a database is, for people: host, port and name, never a user or a password. */
export const where = (url: Redacted.Redacted): string => whereOf(Redacted.value(url))

const open = ({ url, maxConnections = 10, statementTimeoutMillis = defaultStatementTimeoutMillis, lockTimeoutMillis = 10_000 }: Options) =>
  Effect.try({
    try: () => {
      const connectionString = Redacted.value(url)
      const where = whereOf(connectionString)
      const pool = new Pg.Pool({
        connectionString,
        max: maxConnections,
        connectionTimeoutMillis: 10_000,
        keepAlive: true,
        application_name: "satrail",
        options: settings,
        statement_timeout: statementTimeoutMillis,
        lock_timeout: lockTimeoutMillis,
        idle_in_transaction_session_timeout: maxIdleInTransactionMillis
      })
      pool.on("error", () => {}) // an idle connection died; the next query opens another
      return { pool, where }
    },
    // The text may be a password with half a URL around it: it is not repeated.
    catch: () => new DatabaseUnreachable({ where: "the address given", cause: new Error("it is not a postgres:// URL") })
  })

/** A `SqlClient` over node-postgres. */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, DatabaseUnreachable> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const { pool, where } = yield* Effect.acquireRelease(open(options), ({ pool }) => Effect.promise(() => pool.end()))
      const sql = yield* make(pool, options.statementTimeoutMillis)
      yield* answering(where, sql)
      return sql
    })
  ).pipe(Layer.provide(Reactivity.layer))
