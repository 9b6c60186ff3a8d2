import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Migration0001 from "./Migration0001.ts"
import * as Migration0002 from "./Migration0002.ts"
import * as Migration0007 from "./Migration0007.ts"
import { unhurried } from "./Reads.ts"

const run = (script: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(script).unprepared)

/** Forward only: what is here is never changed, another one is added, in a file of its own. */
const migrations: Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>> = {
  "0001_everything": Effect.asVoid(run(Migration0001.script)),
  "0002_kinds_of_tasks": Effect.asVoid(run(Migration0002.script)),
  "0007_rates_and_success_actions": Effect.asVoid(run(Migration0007.script))
}

/** The number of the last one: what a database is at that this program has brought up to date. */
export const newestKnown = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

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

const table = "satrail.migrations"

// Whoever starts first does all of it, and the others wait, however long that takes.
const alone = run(`${unhurried}; select pg_advisory_xact_lock(hashtext('${table}')); create schema if not exists satrail`)

const Found = Schema.decodeUnknownSync(Schema.Struct({ found: Schema.NullOr(Schema.String) }))

/** The number of the last migration there, or 0 where there was none. */
const newestThere = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [any] = yield* sql`select to_regclass(${table})::text as found`
  if (Found(any).found === null) return 0
  const [newest] = yield* sql.unsafe<object>(`select max(migration_id)::text as found from ${table}`)
  return Number(Found(newest).found)
})

/**
 * Brings the tables up to date, in one transaction. Any number of processes may start at once: one migrates, the others wait for it. Where
 * there is nothing to do, it takes no right but to read and write rows.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if ((yield* newestThere) < newestKnown)
    yield* sql.withTransaction(Effect.andThen(alone, Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })))
  const newest = yield* newestThere
  if (newest > newestKnown) return yield* new SchemaTooNew({ found: newest, known: newestKnown })
  // A dump that was restored elsewhere finds a server that has seen fewer transactions: the ids of events go on where they stopped.
  yield* sql`
    update satrail.epoch set transactions = pg_current_xact_id()::text::bigint - 1 - newest / 4096
    from (select coalesce(max(id), 0) as newest from satrail.events) e
    where id = 1 and (pg_current_xact_id()::text::bigint - transactions) * 4096 <= newest`
})
