import { Cause, Context, Effect, Exit, Layer, Option, Redacted, Result, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError, Statement } from "effect/sql"
import Pg from "pg"
import * as Away from "./Away.ts"
import * as Hosts from "./Hosts.ts"
import {
  type Ask,
  asking,
  connection,
  failed,
  hear,
  isUnanswered,
  leave,
  Patience,
  pidOf,
  remember,
  type SettingsOf,
  writes
} from "./PgConnection.ts"
import { DatabaseUnreachable, meaningOf } from "./PgError.ts"
import * as Pooler from "./Pooler.ts"
import * as Primary from "./Primary.ts"
import * as SqlState from "./SqlState.ts"

export { DatabaseUnreachable } from "./PgError.ts"

/** The address of the database, and the limits of this process. */
export interface Options extends Away.Options, Primary.Options {
  /**
   * `postgres://user:password@host:port/name`. For TLS add `?sslmode=verify-full`, and `&sslrootcert=FILE` if
   * Node doesn't know the authority that signed the server's certificate. With several hosts,
   * `h1:5432,h2:5432`, connections go to the one that accepts writes, and follow it after a failover.
   * `target_session_attrs` may be `any`, `read-write` or `primary`.
   */
  readonly url: Redacted.Redacted
  /** Default 10. */
  readonly maxConnections?: number | undefined
  /**
   * Timeout after which the server cancels a statement, which is reported as an outage. Default 30 000. Full
   * counts and migrations have no timeout.
   */
  readonly statementTimeoutMillis?: number | undefined
  /** Maximum wait for a row locked by another transaction. Default 10 000. */
  readonly lockTimeoutMillis?: number | undefined
}

/** The statement compiler for PostgreSQL, for any client. */
export const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (i) => `$${i}`,
  onIdentifier: Statement.defaultEscape('"'),
  onCustom: () => ["", []],
  onRecordUpdate: () => ["", []]
})

/**
 * Returns which connections must be dropped. A connection is dropped if it broke or its query was interrupted.
 * A rejected query leaves it usable, unless the server reports that it no longer accepts writes. Then all open
 * connections must be dropped, because none leads to the primary.
 */
const spoils = (exit: Exit.Exit<unknown, unknown>): SqlState.Meaning["drops"] => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) return "this"
  return SqlError.isSqlError(error) && error.reason._tag === "ConnectionError"
    ? meaningOf(error.reason.cause, "query").drops
    : undefined
}

/** Connections opened before the current epoch are not used. */
interface Epoch {
  current: number
  readonly opened: WeakMap<Pg.PoolClient, number>
}

/** Tracks the epochs of a pool. A host's pool also contains connections that we never used. */
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

/** Opens a connection outside the pool to the same server. It is closed with the scope. */
export class Beside extends Context.Service<
  Beside,
  { readonly connection: Effect.Effect<Pg.Client, SqlError.SqlError, Scope.Scope> }
>()("@satrail/postgres/client/PgClient/Beside") {}

const besideOf = (make: Effect.Effect<Pg.Client, unknown>) => {
  // The client is released even if its caller leaves while it connects.
  const client = Effect.acquireRelease(
    Effect.map(make, (client) => client.on("error", () => {})), // connecting, or the running query, fails with the same error
    (client) => Effect.sync(() => leave(client, unansweredMillis)),
    { interruptible: true }
  )
  const connection = Effect.flatMap(client, (client) =>
    Effect.as(Effect.tryPromise({ try: () => client.connect(), catch: (cause) => cause }), client)
  )
  return Beside.of({ connection: Effect.mapError(connection, (cause) => failed(cause, "connect")) })
}

const defaultStatementTimeoutMillis = 30_000

const connectMillis = 10_000

// The server cancels slow statements, but a server that vanished cancels nothing.
const unansweredMillis = 5000

const pauseMillis = { minimum: 25, maximum: 1000 }

/**
 * Takes connections from a pool. While the server is unreachable, one caller retries after a growing pause,
 * and the others fail immediately with the last error.
 */
const connecting = (
  pool: Pg.Pool,
  epoch: Epoch,
  primary: Primary.Primary | undefined
): Effect.Effect<Pg.PoolClient, SqlError.SqlError> => {
  let failures = 0
  let blockedUntilMillis = 0
  let last = failed(new Error("not tried yet"), "connect")
  const heard = new WeakSet<Pg.PoolClient>()
  const fail = (cause: unknown) => {
    // Too many of our own callers are waiting for a connection. The server is reachable.
    if (cause instanceof Error && cause.message.includes("timeout exceeded when trying to connect"))
      return failed(cause, "connect")
    primary?.lost()
    last = failed(cause, "connect")
    blockedUntilMillis =
      performance.now() + Math.min(pauseMillis.maximum, pauseMillis.minimum * 2 ** failures++)
    return last
  }
  return Effect.suspend(() => {
    if (performance.now() < blockedUntilMillis) return Effect.fail(last)
    let given: Pg.PoolClient | undefined
    let isLeft = false
    const wait = Effect.callback<Pg.PoolClient, SqlError.SqlError>((resume) => {
      const end = (outcome: Effect.Effect<Pg.PoolClient, SqlError.SqlError>) => {
        clearTimeout(timer)
        resume(outcome)
      }
      // Our own pool has a limit. A host's may have none.
      const tooLong = () =>
        end(Effect.fail(failed(new Error("no connection of the pool became free in time"), "connect")))
      const timer =
        (pool.options.connectionTimeoutMillis ?? 0) > 0 ? undefined : setTimeout(tooLong, connectMillis)
      const take = (error: Error | null | undefined, client: Pg.PoolClient | undefined): void => {
        if (error !== undefined && error !== null) return end(Effect.fail(fail(error)))
        if (client === undefined)
          return end(Effect.die(new Error("the pool gave neither a connection nor an error")))
        failures = 0
        if (!heard.has(client)) {
          heard.add(client)
          hear(client)
        }
        if ((epoch.opened.get(client) ?? 0) < epoch.current || primary?.isElsewhere(client) === true) {
          client.release(true)
          return isLeft ? undefined : pool.connect(take)
        }
        // Not now: a release calls the next waiter, and thousands that have left would overflow the stack.
        if (isLeft) return void setImmediate(() => client.release())
        given = client
        return end(Effect.succeed(client))
      }
      pool.connect(take)
      return Effect.sync(() => clearTimeout(timer))
    })
    const connected = Effect.onExit(wait, (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return
        isLeft = true
        given?.release()
      })
    )
    return primary === undefined
      ? connected
      : Effect.andThen(Effect.mapError(primary.settled, fail), connected)
  })
}

/**
 * Refuses to send further commits while earlier ones wait for the standby. The server keeps the session of a waiting
 * commit although we closed its connection, so repeated commits would take all its sessions, and reads would fail too.
 */
const confirming = () => {
  const unanswered = new Set<number>()
  const text =
    "select pid from pg_stat_activity where pid = any($1::int[]) and wait_event = 'SyncRep' limit 1"
  const refused = Object.assign(
    new Error("commits are not confirmed: earlier ones still wait for the standby"),
    {
      code: SqlState.unconfirmed
    }
  )
  const sent =
    (ask: Ask): Ask =>
    (query) =>
      unanswered.size > 0 && writes(query.text)
        ? Effect.suspend(() => {
            const asked = [...unanswered]
            return Effect.flatMap(ask({ text, values: [asked] }), ({ rows }) => {
              if (rows.length > 0) return Effect.fail(failed(refused, "query"))
              for (const pid of asked) unanswered.delete(pid)
              return ask(query)
            })
          })
        : ask(query)
  const note = (
    client: Pg.PoolClient,
    { text }: { readonly text: string },
    exit: Exit.Exit<unknown, SqlError.SqlError>
  ): void => {
    const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
    const pid = pidOf(client)
    if (error !== undefined && isUnanswered(error) && writes(text) && pid !== undefined) unanswered.add(pid)
  }
  return { sent, note }
}

/** Returns the settings of a pool's connections. */
const configOf = ({ options }: Pg.Pool): Pg.ClientConfig => {
  const { password } = options // pg makes it non-enumerable, so a spread omits it
  return password === undefined ? options : { ...options, password }
}

interface Asked extends Away.Options {
  readonly statementTimeoutMillis?: number | undefined
}

const make = Effect.fnUntraced(function* (pool: Pg.Pool, options: Asked = {}, primary?: Primary.Primary) {
  const { statementTimeoutMillis = defaultStatementTimeoutMillis } = options
  const epoch = yield* epochOf(pool)
  const connect = Away.unless(options)(connecting(pool, epoch, primary))
  const settingsOf: SettingsOf = (client) => primary?.settingsOf(client) ?? configOf(pool)
  const release = (client: Pg.PoolClient, exit: Exit.Exit<unknown, unknown>) =>
    Effect.sync(() => {
      const drops = spoils(exit)
      if (drops === "all") {
        epoch.current++
        primary?.lost()
      }
      client.release(drops !== undefined)
    })
  const limitMillis = statementTimeoutMillis + unansweredMillis
  const confirmed = confirming()
  const single: Ask = (query) =>
    Effect.withFiber((fiber) => {
      const limits = { limitMillis, patienceMillis: fiber.getRef(Patience) }
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(connect), (client) =>
          Effect.onExit(restore(confirmed.sent(asking(client, settingsOf, limits))(query)), (exit) => {
            confirmed.note(client, query, exit)
            return release(client, exit)
          })
        )
      )
    })
  const reserved = Effect.acquireRelease(connect, release, { interruptible: true })
  return yield* SqlClient.make({
    driver: "pg",
    acquirer: Effect.succeed(connection(single)),
    transactionAcquirer: Effect.map(reserved, (client) => connection(asking(client, settingsOf))),
    compiler,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})

/** Fails if the database is unreachable, so that a program can report it before it accepts requests. */
const answering = (where: string, sql: SqlClient.SqlClient) =>
  Effect.mapError(
    sql.unsafe("select 1").unprepared,
    ({ reason }) => new DatabaseUnreachable({ where, cause: reason.cause })
  )

// A process that stopped in a transaction must not lock rows indefinitely.
const maxIdleInTransactionMillis = 60_000

/**
 * Session settings, set after the connection is opened because poolers refuse them as startup parameters.
 * Every statement should use an index, but one prepared on an empty table would be planned as a sequential
 * scan and keep that plan until the next ANALYZE. Compiling a statement (jit) takes a second for a query that
 * runs in a millisecond. A statement must see the rows that it waited for, which other isolation levels refuse.
 * Behind a pooler, `probe` runs first, because a pooler in transaction mode would give the settings to other
 * programs too.
 */
const setting = ({
  statementTimeoutMillis,
  lockTimeoutMillis,
  probe
}: {
  readonly statementTimeoutMillis: number
  readonly lockTimeoutMillis: number
  readonly probe: () => Promise<void>
}) => {
  const values = {
    enable_seqscan: "off",
    jit: "off",
    default_transaction_isolation: "read committed",
    statement_timeout: statementTimeoutMillis,
    lock_timeout: lockTimeoutMillis,
    idle_in_transaction_session_timeout: maxIdleInTransactionMillis
  }
  const all = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const text = `select pg_backend_pid() as pid, ${all.join(", ")}`
  return async (client: Pooler.Client, millis: number): Promise<void> => {
    const set = async (text: string) => {
      const query = { text, query_timeout: millis }
      return (await client.query<{ readonly pid: number }>(query)).rows[0]?.pid
    }
    if ((await set(`${text} where ${Pooler.isDirect(client)}`)) !== undefined) return
    await probe()
    const pid = await set(text)
    if (pid !== undefined) remember(client, pid)
  }
}

/**
 * A `SqlClient` over a host's pool, which the host closes. The host also decides where its connections lead:
 * after a failover, connections that accept no writes are closed one by one, and the pool must open new ones to
 * the new primary. Queries run best with `options: "-c enable_seqscan=off -c jit=off"` if there is no pooler in
 * between.
 */
export const layerPool = (pool: Pg.Pool): Layer.Layer<SqlClient.SqlClient | Beside, DatabaseUnreachable> => {
  const connect = () => new Pg.Client(configOf(pool))
  const sessions = Effect.tryPromise({
    try: () => Pooler.probe(connect, pool.options.max, false),
    catch: (cause) => new DatabaseUnreachable({ where: "the given pool", cause })
  })
  return Layer.merge(
    Layer.effect(
      SqlClient.SqlClient,
      Effect.tap(make(pool), (sql) => Effect.andThen(sessions, answering("the given pool", sql)))
    ).pipe(Layer.provide(Reactivity.layer)),
    Layer.sync(Beside, () => besideOf(Effect.sync(connect)))
  )
}

/** Returns the database's hosts, ports and name in readable form. Never contains a user or a password. */
export const where = (url: Redacted.Redacted): string =>
  Result.match(Hosts.parse(Redacted.value(url)), {
    onFailure: () => "the address given",
    onSuccess: ({ where }) => where
  })

const opening = Effect.fnUntraced(function* (options: Options) {
  const {
    url,
    maxConnections = 10,
    statementTimeoutMillis = defaultStatementTimeoutMillis,
    lockTimeoutMillis = 10_000
  } = options
  // Don't repeat the text, because a malformed URL can contain the password.
  const wrong = (problem: string) =>
    new DatabaseUnreachable({ where: "the address given", cause: new Error(problem) })
  const hosts = yield* Effect.mapError(Effect.fromResult(Hosts.parse(Redacted.value(url))), wrong)
  const common: Pg.ClientConfig = {
    keepAlive: true,
    // By default, the first probe is sent after two hours. Statements without a timeout would wait that long for a server
    // that has vanished.
    keepAliveInitialDelayMillis: 60_000,
    application_name: "satrail"
  }
  const primary =
    hosts.demand === "any" && hosts.all.length === 1 ? undefined : yield* Primary.make(hosts, common, options)
  const connect = (): Pg.Client =>
    primary === undefined ? new Pg.Client(configOf(pool)) : new primary.Client()
  let probed: Promise<void> | undefined
  const probe = () =>
    (probed ??= Pooler.probe(connect, maxConnections, true).catch((cause: unknown) => {
      probed = undefined
      throw cause
    }))
  const set = setting({ statementTimeoutMillis, lockTimeoutMillis, probe })
  const pool: Pg.Pool = yield* Effect.acquireRelease(
    Effect.try({
      try: () =>
        new Pg.Pool({
          ...common,
          max: maxConnections,
          connectionTimeoutMillis: connectMillis,
          onConnect: async (client) => {
            primary?.onConnect(client)
            await set(client, connectMillis)
          },
          ...(primary === undefined ? { connectionString: Redacted.value(url) } : { Client: primary.Client })
        }),
      catch: () => wrong("it is not a postgres:// URL")
    }),
    (pool) => Effect.promise(() => pool.end())
  )
  pool.on("error", () => {}) // an idle connection broke; the next query opens another
  return { pool, primary, where: hosts.where, connect }
})

/**
 * A client that connects on the first query. If the database is unreachable, the first caller receives the
 * error.
 */
export const lazily = Effect.fnUntraced(function* (options: Options) {
  const { pool, primary, ...opened } = yield* opening(options)
  const sql = yield* Effect.provide(make(pool, options, primary), Reactivity.layer)
  if (primary !== undefined) yield* Effect.forkScoped(primary.watch)
  const beside = besideOf(Effect.map(primary === undefined ? Effect.void : primary.settled, opened.connect))
  return { sql, primary, beside, ...opened }
})

/** A `SqlClient` over node-postgres. */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient | Beside, DatabaseUnreachable> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { sql, primary, where, beside } = yield* lazily(options)
      if (primary !== undefined)
        yield* Effect.mapError(primary.settled, (cause) => new DatabaseUnreachable({ where, cause }))
      yield* answering(where, sql)
      return Context.make(SqlClient.SqlClient, sql).pipe(Context.add(Beside, beside))
    })
  )
