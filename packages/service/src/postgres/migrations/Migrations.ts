import { Effect, Record, Schedule, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { Own } from "@satrail/postgres/client/Feature"
import { own } from "../../features/core.ts"
import { all as features } from "../../features/postgres.ts"
import { unhurried } from "@satrail/postgres/statements/Reads"
import * as Baseline from "./Baseline.ts"
import * as Migration0082 from "@satrail/postgres/migrations/Migration0082"
import * as Migration0084 from "@satrail/postgres/migrations/Migration0084"
import * as Migration0086 from "@satrail/postgres/migrations/Migration0086"
import * as Migration0087 from "@satrail/postgres/migrations/Migration0087"
import * as Migration0090 from "@satrail/postgres/migrations/Migration0090"
import * as Migration0095 from "@satrail/postgres/migrations/Migration0095"
import * as Migration0097 from "@satrail/postgres/migrations/Migration0097"
import * as Migration0099 from "@satrail/postgres/migrations/Migration0099"
import * as Migration0108 from "@satrail/postgres/migrations/Migration0108"
import * as Rights from "./Rights.ts"

const run = (script: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(script).unprepared)

/** Migrations by number and name. */
export type Scripts = Readonly<Record<string, string>>

/**
 * Forward only: a released migration never changes, because no database runs it twice.
 *
 * To add one, take the next number, such as 0103, export its `script` from `Migration0103.ts`,
 * and list it below. A feature's migration is a file in the feature's folder, listed as `migrations` in
 * `features/index.ts`. No number is used twice. During an upgrade the previous version runs on the new tables,
 * so a migration only adds what that version can ignore. `test/migrations.test.ts` runs it on the data of the
 * first release, and lists the columns it adds. `Rights.ts` names the tables that are not records.
 */
export const scripts: Scripts = {
  // Lower numbers were used during development.
  "0080_first_release": Baseline.script,
  ...Object.fromEntries(features.flatMap(({ migrations = {} }) => Object.entries(migrations))),
  "0082_search": Migration0082.script,
  "0084_frozen_companies": Migration0084.script,
  "0086_deposits_paid_at": Migration0086.script,
  "0087_recipients": Migration0087.script,
  "0090_meanings": Migration0090.script,
  "0095_deposits_owed": Migration0095.script,
  "0097_operator_requests": Migration0097.script,
  "0099_rates": Migration0099.script,
  "0108_splits": Migration0108.script
}

/** The database was migrated by a later version of this program. Nothing was changed. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  /** The numbers of the database's last migration, and of the last one that this program knows. */
  found: Schema.Int,
  known: Schema.Int
}) {
  override get message(): string {
    return (
      `The database is at migration ${this.found}, but this program only supports up to ${this.known}: a newer version migrated it. ` +
      "Start that version or a later one."
    )
  }
}

/** The tables don't match this program, and its role may not migrate them. Nothing was changed. */
export class RoleMayNot extends Schema.TaggedError<RoleMayNot>()("RoleMayNot", {
  /** The number of the database's last migration: 0 without tables, null if it could not be read. */
  found: Schema.NullOr(Schema.Int),
  known: Schema.Int,
  /** The database's message. */
  why: Schema.String
}) {
  override get message(): string {
    const { found, known, why } = this
    const role = "the role that this program runs as"
    const state =
      found === null
        ? `${role} may not read the database's migrations`
        : found === 0
          ? `The database has no tables yet, and ${role} may not create them`
          : found < known
            ? `The database is at migration ${found}, this program needs ${known}, and ${role} may not migrate`
            : `The tables are up to date, but ${role} may not grant the roles their privileges and set the next event id after a restored dump`
    return `${state} (${why}). Run \`satrail migrate\` as the role that owns the tables, then start this again.`
  }
}

const table = "satrail.migrations"

const Found = Schema.decodeUnknownSync(Schema.Struct({ found: Schema.NullOr(Schema.String) }))

/** Returns the number of the database's last migration, or 0 if it has none. */
const newestThere = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [any] = yield* sql`select to_regclass(${table})::text as found`
  if (Found(any).found === null) return 0
  const [newest] = yield* sql.unsafe<object>(`select max(migration_id)::text as found from ${table}`)
  return Number(Found(newest).found)
})

/** The record types of the program's own features. */
const ownNouns = Effect.map(own, (features) => features.flatMap(({ nouns }) => nouns))

/** Returns whether the table of one of these is missing. */
const lacksOwn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const { name } of yield* ownNouns) {
    const [any] = yield* sql`select to_regclass(${`satrail.${name}`})::text as found`
    if (Found(any).found === null) return true
  }
  return false
})

/** Creates the tables of the program's own features, and grants all rights. */
const finish = Effect.gen(function* () {
  const features = yield* Own
  yield* Effect.forEach(features, ({ tables = "" }) => run(tables), { discard: true })
  yield* run(Rights.script(yield* ownNouns, features))
})

const begun = "(pg_snapshot_xmax(pg_current_snapshot())::text::bigint - transactions) * 4096"

// Includes ids of deleted events, and of the audit log, which are created the same way.
const newestEvent = `(select greatest(coalesce((select max(id) from satrail.events), 0), coalesce((select max(until) from satrail.forgotten_events), 0),
  coalesce((select max(id) from satrail.audit_entries), 0)))`

/**
 * Number of transactions whose event ids are left out after a restore, because readers may have received them for
 * events newer than the dump: 49 days at 1,000 a second.
 */
const lostTransactions = 2 ** 32

// After a dump is restored on another server, transaction ids start lower. This lets event ids continue after
// the last one, and after those that a reader may have received since the dump.
const goOn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Check first: only the owner of the tables may run the next statement, even if it changes nothing.
  const behind =
    yield* sql`select from satrail.epoch where ${sql.literal(begun)} <= ${sql.literal(newestEvent)}`
  if (behind.length === 0) return
  yield* sql`
    update satrail.epoch set transactions = pg_current_xact_id()::text::bigint - 1 - newest / 4096 - ${sql.literal(String(lostTransactions))}
    from (select ${sql.literal(newestEvent)} as newest) e
    where id = 1 and ${sql.literal(begun)} <= newest`
})

// The first process to start migrates, and the others wait as long as it takes. `create schema if not exists`
// would require the right to create schemas even if this one exists.
const alone = run(`
${unhurried};
select pg_advisory_xact_lock(hashtext('${table}'));
do $$ begin if to_regnamespace('satrail') is null then create schema satrail; end if; end $$`)

/**
 * How long a migration waits for a lock, and then lets the statements run that wait behind it, before it begins again.
 * It may wait for a transaction that takes hours, such as a dump. Less than the service's limit for locks.
 */
const defaultLockMillis = 5000

/** Returns whether a lock was not free in time, or the database ended a deadlock with the traffic. */
const isEnded = (error: unknown): boolean =>
  error instanceof Migrator.MigrationError
    ? isEnded(error.cause)
    : SqlError.isSqlError(error) &&
      (error.reason._tag === "LockTimeoutError" || error.reason._tag === "DeadlockError")

/** Adds the database's reason to the error of a failed migration, which has only the migration's name. */
const withReason = <E>(error: E): E | Migrator.MigrationError =>
  error instanceof Migrator.MigrationError && SqlError.isSqlError(error.cause)
    ? new Migrator.MigrationError({
        ...error,
        message: `${error.message}, and nothing was changed: ${error.cause.message}`
      })
    : error

const tellEnded = Effect.logWarning(
  "migration: another transaction holds a lock, such as that of a dump. Trying again until it has ended"
)

/** Migrates a database with these migrations. */
export const make = (scripts: Scripts, lockMillis = defaultLockMillis) => {
  /** The number of the last migration that this program knows. */
  const newestKnown = Math.max(...Object.keys(scripts).map((name) => Number.parseInt(name, 10)))
  const loader = Migrator.fromRecord(Record.map(scripts, (script) => Effect.asVoid(run(script))))

  const explained =
    (found: number | null) =>
    <E>(error: E): E | RoleMayNot =>
      SqlError.isSqlError(error) && error.reason._tag === "AuthorizationError"
        ? new RoleMayNot({ found, known: newestKnown, why: error.message })
        : error

  /**
   * The number of the database's last migration. Fails if this program does not know it. Waits for a migration that
   * another process runs, because that process locks the table.
   */
  const status = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const waited = sql.withTransaction(Effect.andThen(run(unhurried), newestThere))
    const found = yield* Effect.mapError(waited, explained(null))
    return found > newestKnown ? yield* new SchemaTooNew({ found, known: newestKnown }) : found
  })

  const upgrade = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const migrator = Migrator.make({})({ table, loader })
    const hurried = run(`set local lock_timeout = ${lockMillis}`)
    // While this process waited, another one may have migrated beyond what this program supports.
    yield* sql.withTransaction(Effect.all([alone, status, hurried, migrator, finish, goOn])).pipe(
      Effect.tapError((error) => (isEnded(error) ? tellEnded : Effect.void)),
      Effect.retry({ while: isEnded, schedule: Schedule.spaced(lockMillis) }),
      Effect.mapError(withReason)
    )
  })

  /**
   * Brings the tables up to date and grants the roles of roles.sql their rights, in one transaction. Any number
   * of processes may run it concurrently. One migrates, and the others wait. Returns the number of the last
   * migration before and after the run.
   */
  const migrate = Effect.gen(function* () {
    const before = yield* status
    yield* Effect.mapError(upgrade, explained(before))
    return { before, now: newestKnown }
  })

  /**
   * Part of the startup: migrates if necessary. If the role lacks rights or the program is too old, the error
   * states the remedy.
   */
  const ready = Effect.gen(function* () {
    const found = yield* status
    const isBehind = found < newestKnown || (yield* Effect.mapError(lacksOwn, explained(found)))
    yield* Effect.mapError(isBehind ? upgrade : goOn, explained(found))
  })

  return { newestKnown, migrate, ready }
}

export const { newestKnown, migrate, ready } = make(scripts)
