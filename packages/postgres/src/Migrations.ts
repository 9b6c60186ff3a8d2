import { Effect, Schema } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import * as Migration0001 from "./Migration0001.ts"
import * as Migration0002 from "./Migration0002.ts"
import { unhurried } from "./Reads.ts"

const run = (script: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(script).unprepared)

/** Forward only: what is here is never changed, another one is added, in a file of its own. */
const migrations: Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>> = {
  "0001_everything": Effect.asVoid(run(Migration0001.script)),
  "0002_kinds_of_tasks": Effect.asVoid(run(Migration0002.script))
}

const newestKnown = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

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

// Two that start at once both find no schema, and one of them is too late.
const namespace = Effect.retry(run("create schema if not exists satrail"), {
  times: 1,
  while: (error: SqlError.SqlError) => error.reason._tag === "UniqueViolation"
})

const Newest = Schema.decodeUnknownSync(Schema.Struct({ newest: Schema.FiniteFromString }))

/** Brings the tables up to date, in one transaction. Any number of processes may start at once: one migrates, the others wait for it. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* namespace
  yield* sql.withTransaction(Effect.andThen(run(unhurried), Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })))
  const [row] = yield* sql`select coalesce(max(migration_id), 0)::text as newest from satrail.migrations`
  const { newest } = Newest(row)
  if (newest > newestKnown) return yield* new SchemaTooNew({ found: newest, known: newestKnown })
  // A dump that was restored elsewhere finds a server that has seen fewer transactions: the ids of events go on where they stopped.
  yield* sql`
    update satrail.epoch set transactions = pg_current_xact_id()::text::bigint - 1 - newest / 4096
    from (select coalesce(max(id), 0) as newest from satrail.events) e
    where id = 1 and (pg_current_xact_id()::text::bigint - transactions) * 4096 <= newest`
})
