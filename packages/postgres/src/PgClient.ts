import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import Pg from "pg"

/** Where the database is (`postgres://user:password@host:port/name`), and how many connections this process may hold: 10 by default. */
export interface Options {
  readonly url: Redacted.Redacted
  readonly maxConnections?: number | undefined
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

// A host name with several addresses fails with one error for each, and says nothing itself.
const messageOf = (cause: unknown): string =>
  cause instanceof AggregateError && cause.message === ""
    ? cause.errors.map(messageOf).join("; ")
    : cause instanceof Error
      ? cause.message
      : String(cause)

/** What PostgreSQL said, in Effect's words: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const reasonOf = (cause: unknown, operation: string): SqlError.SqlError["reason"] => {
  const { code, constraint } = problemOf(cause)
  const props = { cause, operation, message: messageOf(cause) }
  // Our own mistake, such as a value that cannot be sent; what the network or the pool says has another class.
  if (cause instanceof TypeError || cause instanceof RangeError) return new SqlError.UnknownError(props)
  if (code === undefined || /^E[A-Z]+$/.test(code)) return new SqlError.ConnectionError(props)
  // 08P01 is a protocol violation, which would be ours. 57P: shut down or starting. 53: out of connections, memory or disk.
  if ((code.startsWith("08") && code !== "08P01") || code.startsWith("57P") || code.startsWith("53"))
    return new SqlError.ConnectionError(props)
  if (code === "23505") return new SqlError.UniqueViolation({ ...props, constraint: constraint ?? "unknown" })
  if (code.startsWith("23")) return new SqlError.ConstraintError(props)
  if (code.startsWith("28")) return new SqlError.AuthenticationError(props)
  if (code === "40P01") return new SqlError.DeadlockError(props)
  if (code === "40001") return new SqlError.SerializationError(props)
  if (code === "42501") return new SqlError.AuthorizationError(props)
  if (code.startsWith("42")) return new SqlError.SqlSyntaxError(props)
  if (code === "55P03") return new SqlError.LockTimeoutError(props)
  if (code === "57014") return new SqlError.StatementTimeoutError(props)
  return new SqlError.UnknownError(props)
}

// A named statement is parsed and planned once a connection. Names are per text; texts are few, because values are parameters.
// A host's own statements on the same connections have names too: ours begin with what nobody else's does.
const names = new Map<string, string>()
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `satrail_${names.size}`
  names.set(text, name)
  return name
}

interface Queryable {
  readonly query: (config: Pg.QueryConfig & { readonly rowMode?: "array" }) => Promise<Pg.QueryResult>
}

const connection = (on: Queryable): SqlConnection.Connection => {
  const query = (config: Pg.QueryConfig & { readonly rowMode?: "array" }) =>
    Effect.tryPromise({
      try: () => on.query(config),
      catch: (cause) => new SqlError.SqlError({ reason: reasonOf(cause, "query") })
    })
  const rows = (config: Pg.QueryConfig & { readonly rowMode?: "array" }) => Effect.map(query(config), (result) => result.rows)
  const self: SqlConnection.Connection = {
    execute: (text, values, transform) => {
      const found = rows({ name: nameOf(text), text, values: [...values] })
      return transform === undefined ? found : Effect.map(found, transform)
    },
    executeUnprepared: (text, values, transform) => {
      const found = rows({ text, values: [...values] })
      return transform === undefined ? found : Effect.map(found, transform)
    },
    executeRaw: (text, values) => query({ text, values: [...values] }),
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

const make = Effect.fnUntraced(function* (pool: Pg.Pool) {
  const reserved = Effect.acquireRelease(
    Effect.tryPromise({ try: () => pool.connect(), catch: (cause) => new SqlError.SqlError({ reason: reasonOf(cause, "connect") }) }),
    (client, exit) => Effect.sync(() => client.release(exit._tag === "Failure"))
  )
  return yield* SqlClient.make({
    driver: "pg",
    acquirer: Effect.succeed(connection(pool)),
    transactionAcquirer: Effect.map(reserved, connection),
    compiler,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})

/** Fails when nobody answers: a program that cannot reach its data says so before it takes requests. */
const answering = (where: string, sql: SqlClient.SqlClient) =>
  Effect.mapError(sql.unsafe("select 1").unprepared, ({ reason }) => new DatabaseUnreachable({ where, cause: reason.cause }))

// Every statement here goes by an index. Prepared on a still empty table it would be planned as a scan, and stay one until the next
// analyze. Compiling a statement (jit) takes a second for what runs in a millisecond.
const settings = "-c enable_seqscan=off -c jit=off"

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

const open = ({ url, maxConnections = 10 }: Options) =>
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
        options: settings
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
      const sql = yield* make(pool)
      yield* answering(where, sql)
      return sql
    })
  ).pipe(Layer.provide(Reactivity.layer))
