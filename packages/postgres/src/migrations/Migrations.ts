import { Effect, Record, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { features } from "../features/index.ts"
import { unhurried } from "../statements/Reads.ts"
import * as Baseline from "./Baseline.ts"
import * as Rights from "./Rights.ts"

const run = (script: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(script).unprepared)

/** Migrations by number and name. */
export type Scripts = Readonly<Record<string, string>>

/**
 * Forward only: a released migration never changes, because no database runs it twice.
 *
 * To add one, take the next number (0081 after the first release), export its `script` from `Migration0081.ts`,
 * and list it below. A feature's migration is a file in the feature's folder, listed as `migrations` in
 * `features/index.ts`. No number is used twice. During an upgrade the previous version runs on the new tables,
 * so a migration only adds what that version can ignore. `test/migrations.test.ts` runs it on the data of the
 * first release, and lists the columns it adds. `Rights.ts` names the tables that are not records.
 */
export const scripts: Scripts = {
  // Development used the numbers before it.
  "0080_first_release": Baseline.script,
  ...Object.fromEntries(features.flatMap(({ migrations = {} }) => Object.entries(migrations)))
}

/** The database was migrated by a later version of this program. Nothing was changed. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  /** The number of the last migration there, and of the last one that this program knows. */
  found: Schema.Int,
  known: Schema.Int
}) {
  override get message(): string {
    return (
      `The database is at migration ${this.found}, and this program knows only ${this.known}: a newer version has been here. ` +
      "Start that version or a later one; this one would not know what the data means."
    )
  }
}

/** The tables are not as this program needs them, and the role it runs as may not change that. Nothing was changed. */
export class RoleMayNot extends Schema.TaggedError<RoleMayNot>()("RoleMayNot", {
  /** The number of the last migration there: 0 where there are no tables, null where this could not even be read. */
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
          ? `The database has no tables yet, and ${role} may not make them`
          : found < known
            ? `The database is at migration ${found}, this program needs ${known}, and ${role} may not migrate`
            : `The tables are as they should be, and ${role} may not do the rest: give each role its rights, and let events go on where a restored dump stopped`
    return `${state} (${why}). Run \`satrail migrate\` as the role that owns the tables, then start this again.`
  }
}

const table = "satrail.migrations"

const Found = Schema.decodeUnknownSync(Schema.Struct({ found: Schema.NullOr(Schema.String) }))

/** The number of the last migration there, or 0 where there was none. */
const newestThere = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [any] = yield* sql`select to_regclass(${table})::text as found`
  if (Found(any).found === null) return 0
  const [newest] = yield* sql.unsafe<object>(`select max(migration_id)::text as found from ${table}`)
  return Number(Found(newest).found)
})

const begun = "(pg_snapshot_xmax(pg_current_snapshot())::text::bigint - transactions) * 4096"

// What was published and deleted again has had its ids too; those of the audit log are made in the same way.
const newestEvent = `(select greatest(coalesce((select max(id) from satrail.events), 0), coalesce((select max(until) from satrail.forgotten_events), 0),
  coalesce((select max(id) from satrail.audit_entries), 0)))`

// A dump that was restored elsewhere finds a server that has seen fewer transactions: the ids of events go on where they stopped.
const goOn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Looked at first: only the owner of the tables may write there, whether it changes anything or not.
  const behind = yield* sql`select from satrail.epoch where ${sql.literal(begun)} <= ${sql.literal(newestEvent)}`
  if (behind.length === 0) return
  yield* sql`
    update satrail.epoch set transactions = pg_current_xact_id()::text::bigint - 1 - newest / 4096
    from (select ${sql.literal(newestEvent)} as newest) e
    where id = 1 and ${sql.literal(begun)} <= newest`
})

// The first process to start does all of it, and the others wait, however long that takes. `create schema if
// not exists` would require the right to create schemas even if this one exists.
const alone = run(`
${unhurried};
select pg_advisory_xact_lock(hashtext('${table}'));
do $$ begin if to_regnamespace('satrail') is null then create schema satrail; end if; end $$`)

/** Migrates a database with these migrations. */
export const make = (scripts: Scripts) => {
  /** The number of the last migration: that of a database which this program has brought up to date. */
  const newestKnown = Math.max(...Object.keys(scripts).map((name) => Number.parseInt(name, 10)))
  const loader = Migrator.fromRecord(Record.map(scripts, (script) => Effect.asVoid(run(script))))

  const explained =
    (found: number | null) =>
    <E>(error: E): E | RoleMayNot =>
      SqlError.isSqlError(error) && error.reason._tag === "AuthorizationError"
        ? new RoleMayNot({ found, known: newestKnown, why: error.message })
        : error

  /** The number of the last migration there. Fails if this program does not know it. */
  const status = Effect.gen(function* () {
    const found = yield* Effect.mapError(newestThere, explained(null))
    return found > newestKnown ? yield* new SchemaTooNew({ found, known: newestKnown }) : found
  })

  const upgrade = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const migrator = Migrator.make({})({ table, loader })
    // Another process may have brought it further than we can while we waited.
    yield* sql.withTransaction(Effect.all([alone, status, migrator, run(Rights.script), goOn]))
  })

  /**
   * Brings the tables up to date and grants the roles of roles.sql their rights, in one transaction. Any number
   * of processes may run it at once: one migrates, the others wait for it. Returns the numbers of the last
   * migration before and now.
   */
  const migrate = Effect.gen(function* () {
    const before = yield* status
    yield* Effect.mapError(upgrade, explained(before))
    return { before, now: newestKnown }
  })

  /** Part of a start: migrates if necessary. The error of a role that may not, or of an old program, says what to do. */
  const ready = Effect.gen(function* () {
    const found = yield* status
    yield* Effect.mapError(found < newestKnown ? upgrade : goOn, explained(found))
  })

  return { newestKnown, migrate, ready }
}

export const { newestKnown, migrate, ready } = make(scripts)
