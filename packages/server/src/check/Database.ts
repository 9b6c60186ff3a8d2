import * as Follower from "@satrail/chain/Follower"
import * as Hosts from "@satrail/postgres/client/Hosts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgError from "@satrail/postgres/client/PgError"
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as Primary from "@satrail/postgres/client/Primary"
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import path from "node:path"
import type { Environment } from "../deployment/Environment.ts"
import {
  applying,
  type Check,
  type Line,
  messageOf,
  misconfigured,
  outage,
  right,
  warning
} from "../base/Check.ts"

/** The oldest PostgreSQL version that the SQL statements support. */
const oldest = 150_000

/**
 * The clock differences above which a warning and a problem are reported. The second is half of a lease's
 * duration (docs/decisions/processes.md#0007).
 */
const clockMillis = { told: 1000, wrong: 3000 }

/** Timeout per host. It allows two such checks in sequence at startup. */
const lookMillis = 1500

const Server = Schema.Struct({
  version: Schema.String,
  number: Schema.Int,
  nowMillis: Schema.Finite,
  fsync: Schema.String,
  pages: Schema.String,
  synchronous: Schema.String,
  synchronousNames: Schema.String,
  standbys: Schema.Int,
  autovacuum: Schema.String,
  isStandby: Schema.Boolean,
  readOnly: Schema.String,
  encoding: Schema.String,
  connections: Schema.Int,
  role: Schema.String,
  isSuperuser: Schema.Boolean,
  isBegun: Schema.Boolean,
  mayBegin: Schema.Boolean,
  mayUse: Schema.Boolean
})

// Requires no privilege except CONNECT.
const server = `
select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMillis",
  current_setting('fsync') as fsync, current_setting('full_page_writes') as pages, current_setting('synchronous_commit') as synchronous,
  current_setting('synchronous_standby_names') as "synchronousNames",
  (select count(*) from pg_stat_replication where application_name <> 'pg_basebackup')::int as standbys,
  current_setting('autovacuum') as autovacuum, pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') as "readOnly", current_setting('server_encoding') as encoding,
  current_setting('max_connections')::int as connections, current_user::text as role,
  coalesce((select rolsuper from pg_roles where rolname = current_user), false) as "isSuperuser",
  exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'satrail' and c.relname = 'migrations') as "isBegun",
  coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'satrail'),
    has_database_privilege(current_database(), 'create')) as "mayBegin",
  coalesce((select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = 'satrail'), true) as "mayUse"`

const Tables = Schema.Struct({
  newest: Schema.Int,
  owns: Schema.Boolean,
  mayAppend: Schema.Boolean,
  mayRewrite: Schema.Boolean
})

const tables = `
select coalesce(max(migration_id), 0)::int as newest,
  (select pg_has_role(relowner, 'usage') from pg_class where oid = 'satrail.entries'::regclass) as owns,
  has_table_privilege('satrail.entries', 'insert') as "mayAppend",
  has_table_privilege('satrail.entries', 'update') or has_table_privilege('satrail.entries', 'delete') as "mayRewrite"
from satrail.migrations`

// A sort that does not fit into memory needs space on the disk, but no privilege, and changes nothing.
const spill = `
set local work_mem = '64kB';
select max(n) from (select row_number() over (order by md5(i::text)) as n from generate_series(1, 20000) i) sorted`

const only = (url: Redacted.Redacted) => PgClient.layer({ url, maxConnections: 1, connectMillis: lookMillis })

/** Reports a full disk, on which the database still serves reads. All else is reported by `check`. */
export const space = ({ databaseUrl }: Environment): Check => ({
  subject: "database",
  isLater: true,
  lines:
    databaseUrl === undefined
      ? Effect.succeed([])
      : Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(spill).unprepared).pipe(
          Effect.as([]),
          Effect.catchTag("SqlError", (error) => {
            const { reason = "", remedy = "" } = PgError.wordsOf(error)
            return Effect.succeed(
              PgError.codeOf(error.reason.cause) === "53100" ? [outage(reason, remedy)] : []
            )
          }),
          Effect.provide(only(databaseUrl)),
          Effect.catchTag("DatabaseUnreachable", () => Effect.succeed([]))
        )
})

const LastRead = Schema.Array(Schema.Struct({ value: Schema.String }))

/**
 * Reads the height of the last block that the service has read; undefined if it is unknown, as with an embedded
 * database. Why a database cannot be read is reported by `check`.
 */
export const lastRead = ({ databaseUrl }: Environment): Effect.Effect<number | undefined> =>
  databaseUrl === undefined
    ? Effect.succeed(undefined)
    : Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql.unsafe<object>(`select value from satrail.cursors where source = 'chain'`).unprepared
      ).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(LastRead)),
        Effect.map(([cursor]) => (cursor === undefined ? undefined : Follower.heightIn(cursor.value))),
        Effect.provide(only(databaseUrl)),
        Effect.orElseSucceed(() => undefined)
      )

/** Warns about disabled settings that protect confirmed requests from loss. */
const durability = ({ fsync, pages, synchronous, autovacuum }: typeof Server.Type): ReadonlyArray<Line> => {
  const off = [
    ...(fsync === "off" ? ["fsync"] : []),
    ...(pages === "off" ? ["full_page_writes"] : []),
    ...(synchronous === "off" ? ["synchronous_commit"] : [])
  ]
  return applying([
    off.length > 0 &&
      warning(
        `${off.join(" and ")} off: a power failure may lose confirmed requests`,
        "Enable it in postgresql.conf."
      ),
    autovacuum === "off" &&
      warning(
        "autovacuum is off: tables grow, and queries use outdated plans",
        "Enable it in postgresql.conf."
      )
  ])
}

/** Warns if a standby may be behind when it takes over. */
const replication = ({
  standbys,
  synchronousNames,
  synchronous
}: typeof Server.Type): ReadonlyArray<Line> => {
  const why = [
    ...(synchronousNames === "" ? ["synchronous_standby_names is empty"] : []),
    ...(synchronous === "off" || synchronous === "local" ? [`synchronous_commit is ${synchronous}`] : [])
  ]
  if (standbys === 0 || why.length === 0) return []
  return [
    warning(
      `commits don't wait for the standby (${why.join(", and ")}): a failover may lose confirmed payments`,
      "Set synchronous_standby_names = 'ANY 1 (*)' and synchronous_commit = on (docs/guides/high-availability.md)."
    )
  ]
}

/** Reports the role of each host, if there are several. */
const hosts = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const named = Result.getOrUndefined(Hosts.parse(Redacted.value(url)))
  if (named === undefined || named.all.length === 1) return []
  const { hosts, newest } = yield* Primary.lookAtAll(named, lookMillis)
  const writing = hosts.filter(({ standing }) => standing._tag === "Here" && !standing.isReadOnly)
  const lines = hosts.map(({ at, standing }): Line => {
    const says = `${at} ${Primary.text(standing, newest)}`
    return standing._tag === "Away"
      ? warning(says, "Start it. Until then, fewer hosts can take over.")
      : right(says)
  })
  if (writing.length < 2) return lines
  const both = writing.map(({ at }) => at).join(" and ")
  return [
    ...lines,
    outage(
      `${both} both accept writes: one of them is an old primary`,
      "Stop the old one immediately, and make it follow the other with pg_rewind (docs/guides/high-availability.md)."
    )
  ]
})

/** Checks the standby from which lists are read, if one is configured. The service works without it. */
const reading = Effect.fnUntraced(function* (url: Redacted.Redacted | undefined) {
  if (url === undefined) return []
  const { hosts } = yield* Primary.lookAtAll(
    yield* Effect.orDie(Effect.fromResult(Hosts.parse(Redacted.value(url)))),
    lookMillis
  )
  return hosts.map(({ at, standing }) =>
    standing._tag === "Here" && standing.isStandby
      ? right(`lists are read from the standby at ${at}`)
      : warning(
          `DATABASE_READ_URL: ${at} ${Primary.text(standing)}`,
          "Set it to a running standby. Until then, lists are read from the primary."
        )
  )
})

const clock = (nowMillis: number, sentMillis: number, heardMillis: number): ReadonlyArray<Line> => {
  const offMillis = nowMillis - (sentMillis + heardMillis) / 2
  // Subtract the uncertainty that the round trip adds.
  const sure = Math.max(0, Math.abs(offMillis) - (heardMillis - sentMillis) / 2)
  if (sure < clockMillis.told) return []
  const says = `the database's clock is ${(Math.abs(offMillis) / 1000).toFixed(1)} s ${offMillis > 0 ? "ahead of" : "behind"} this machine's`
  const remedy = "Synchronize the clocks of all machines with NTP, because leases depend on them."
  return [sure < clockMillis.wrong ? warning(says, remedy) : outage(says, remedy)]
}

const rights = (
  { role, isSuperuser }: typeof Server.Type,
  { owns, mayAppend, mayRewrite }: typeof Tables.Type
): ReadonlyArray<Line> => {
  const remedy =
    "Create the roles in packages/postgres/roles.sql, and run the service as satrail_application (docs/guides/database.md)."
  if (!mayAppend)
    return [
      misconfigured(
        `the role ${role} may not write to the ledger`,
        "Set DATABASE_URL to the role satrail_application, or run `satrail migrate` as the owner of the tables to grant each role its privileges."
      )
    ]
  if (isSuperuser)
    return [
      warning(`the role ${role} is a superuser: its password opens every database on the server`, remedy)
    ]
  return owns || mayRewrite ? [warning(`the role ${role} can change existing entries`, remedy)] : []
}

const migrations = ({ newest, owns }: typeof Tables.Type, role: string): Line => {
  const known = Migrations.newestKnown
  if (newest > known)
    return misconfigured(
      `the tables are at migration ${newest}, but this program supports only up to ${known}, so a newer version has migrated them`,
      "Start that version or a later one."
    )
  if (newest === known) return right(`the tables are up to date (migration ${newest})`)
  return owns
    ? right(`the tables are at migration ${newest} of ${known}: the next start brings them up to date`)
    : misconfigured(
        `the tables are at migration ${newest} of ${known}, and the role ${role} may not migrate`,
        "Run `satrail migrate` as the role that owns the tables."
      )
}

const usable = (found: typeof Server.Type, databaseConnections: number): ReadonlyArray<Line> =>
  applying([
    found.number < oldest &&
      misconfigured(`PostgreSQL ${found.version} is too old`, "Use version 15 or later."),
    (found.isStandby || found.readOnly === "on") &&
      misconfigured(
        "this database is read-only: it is a standby, or the role may only read",
        "Set DATABASE_URL to the primary, and to the role satrail_application."
      ),
    found.encoding !== "UTF8" &&
      misconfigured(
        `the database's encoding is ${found.encoding}`,
        "Create it with encoding UTF8, because names and descriptions can contain any text."
      ),
    found.connections <= databaseConnections &&
      warning(
        `SATRAIL_DATABASE_CONNECTIONS is ${databaseConnections}, but the server accepts only ${found.connections} in total`,
        "Raise max_connections, or lower the setting: each process opens that many connections."
      )
  ])

const look = (url: Redacted.Redacted, readUrl: Redacted.Redacted | undefined, databaseConnections: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sentMillis = yield* Clock.currentTimeMillis
    const [first] = yield* sql.unsafe<object>(server).unprepared
    const heardMillis = yield* Clock.currentTimeMillis
    const found = yield* Schema.decodeUnknownEffect(Server)(first)
    const [named, read] = yield* Effect.all([hosts(url), reading(readUrl)], { concurrency: 2 })
    const general = [
      right(`PostgreSQL ${found.version} at ${PgClient.where(url)}`),
      ...usable(found, databaseConnections),
      ...named,
      ...read,
      ...durability(found),
      ...replication(found),
      ...clock(found.nowMillis, sentMillis, heardMillis)
    ]
    const asOwner = "Run `satrail migrate` as the role that owns the tables."
    if (!found.isBegun) {
      return [
        ...general,
        found.mayBegin
          ? right("there are no tables yet: the first start creates them")
          : misconfigured(`there are no tables yet, and the role ${found.role} may not create them`, asOwner)
      ]
    }
    if (!found.mayUse)
      return [...general, misconfigured(`the role ${found.role} may not read the tables`, asOwner)]
    const [second] = yield* sql.unsafe<object>(tables).unprepared
    const standing = yield* Schema.decodeUnknownEffect(Tables)(second)
    return [...general, migrations(standing, found.role), ...rights(found, standing)]
  }).pipe(
    Effect.provide(only(url)),
    Effect.catch((error) =>
      Effect.succeed([
        error._tag === "DatabaseUnreachable"
          ? error.isPooled
            ? misconfigured(
                error.message,
                "Change DATABASE_URL: docs/guides/database.md has the URL to use at each provider."
              )
            : outage(error.message, error.remedy ?? "Start it, or correct DATABASE_URL.")
          : outage(`the server does not respond like PostgreSQL: ${messageOf(error)}`, "Check its log.")
      ])
    )
  )

/** Checks the service's database. The embedded one is not opened, because only one process may open it. */
export const check = ({
  databaseUrl,
  databaseReadUrl,
  databaseConnections,
  dataDirectory,
  network
}: Environment): Check => ({
  subject: "database",
  lines:
    databaseUrl !== undefined
      ? look(databaseUrl, databaseReadUrl, databaseConnections)
      : Effect.succeed([
          network === "regtest"
            ? right(`embedded, in ${path.join(dataDirectory, "database")}`)
            : warning(
                `the database on ${network} is the embedded one, which is for evaluation, development and tests`,
                "Set DATABASE_URL to a PostgreSQL server (15 or later)."
              )
        ])
})
