import { Effect, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import * as Migration0001 from "./Migration0001.ts"
import * as Migration0002 from "./Migration0002.ts"
import * as Migration0003 from "./Migration0003.ts"
import * as Migration0004 from "./Migration0004.ts"
import * as Migration0005 from "./Migration0005.ts"
import * as Migration0006 from "./Migration0006.ts"
import * as Migration0008 from "./Migration0008.ts"
import * as Migration0009 from "./Migration0009.ts"
import * as Migration0010 from "./Migration0010.ts"
import * as Migration0011 from "./Migration0011.ts"
import * as Migration0012 from "./Migration0012.ts"
import * as Migration0013 from "./Migration0013.ts"
import * as Migration0014 from "./Migration0014.ts"
import * as Migration0015 from "./Migration0015.ts"
import * as Migration0016 from "./Migration0016.ts"
import * as Migration0017 from "./Migration0017.ts"
import * as Migration0025 from "./Migration0025.ts"
import * as Migration0019 from "./Migration0019.ts"
import * as Migration0020 from "./Migration0020.ts"
import * as Migration0022 from "./Migration0022.ts"
import * as Migration0023 from "./Migration0023.ts"
import * as Migration0024 from "./Migration0024.ts"
import * as Migration0029 from "./Migration0029.ts"
import * as Migration0030 from "./Migration0030.ts"
import * as Migration0031 from "./Migration0031.ts"
import * as Migration0032 from "./Migration0032.ts"
import * as Migration0033 from "./Migration0033.ts"
import * as Migration0035 from "./Migration0035.ts"
import * as Migration0036 from "./Migration0036.ts"
import * as Migration0037 from "./Migration0037.ts"
import * as Migration0038 from "./Migration0038.ts"
import * as Migration0039 from "./Migration0039.ts"
import * as Migration0041 from "./Migration0041.ts"
import * as Migration0042 from "./Migration0042.ts"
import * as Migration0043 from "./Migration0043.ts"
import * as Migration0044 from "./Migration0044.ts"
import * as Migration0045 from "./Migration0045.ts"
import * as Migration0046 from "./Migration0046.ts"
import * as Migration0047 from "./Migration0047.ts"
import * as Migration0050 from "./Migration0050.ts"
import * as Migration0051 from "./Migration0051.ts"
import * as Migration0052 from "./Migration0052.ts"
import * as Migration0053 from "./Migration0053.ts"
import * as Migration0071 from "./Migration0071.ts"
import * as Migration0074 from "./Migration0074.ts"
import * as Migration0077 from "./Migration0077.ts"
import * as Migration0078 from "./Migration0078.ts"
import * as Migration0079 from "./Migration0079.ts"
import * as Migration0080 from "./Migration0080.ts"
import { features } from "../features/index.ts"
import { unhurried } from "../statements/Reads.ts"
import * as Rights from "./Rights.ts"

const run = (script: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(script).unprepared)

/** Forward only: what is here is never changed, another one is added, in a file of its own. */
const migrations: Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>> = {
  "0001_everything": Effect.asVoid(run(Migration0001.script)),
  "0002_kinds_of_tasks": Effect.asVoid(run(Migration0002.script)),
  "0003_wallet": Effect.asVoid(run(Migration0003.script)),
  "0004_rates_and_success_actions": Effect.asVoid(run(Migration0004.script)),
  "0005_lnurl": Effect.asVoid(run(Migration0005.script)),
  "0006_domains": Effect.asVoid(run(Migration0006.script)),
  "0008_tally": Effect.asVoid(run(Migration0008.script)),
  "0009_payouts_together": Effect.asVoid(run(Migration0009.script)),
  "0010_paid_from_inside": Effect.asVoid(run(Migration0010.script)),
  "0011_no_links_in_answers": Effect.asVoid(run(Migration0011.script)),
  "0012_deposits_given_up": Effect.asVoid(run(Migration0012.script)),
  "0013_invoices_for_wallets": Effect.asVoid(run(Migration0013.script)),
  "0014_lists_apart": Effect.asVoid(run(Migration0014.script)),
  "0015_turns": Effect.asVoid(run(Migration0015.script)),
  "0016_what_deposits_paid": Effect.asVoid(run(Migration0016.script)),
  "0017_searches": Effect.asVoid(run(Migration0017.script)),
  "0019_events_told": Effect.asVoid(run(Migration0019.script)),
  "0020_webhooks": Effect.asVoid(run(Migration0020.script)),
  "0022_looking_in": Effect.asVoid(run(Migration0022.script)),
  "0023_operator_tokens": Effect.asVoid(run(Migration0023.script)),
  "0024_refunds": Effect.asVoid(run(Migration0024.script)),
  "0025_invoices_canceled": Effect.asVoid(run(Migration0025.script)),
  "0029_payers_amounts": Effect.asVoid(run(Migration0029.script)),
  "0030_limits": Effect.asVoid(run(Migration0030.script)),
  "0031_freezes": Effect.asVoid(run(Migration0031.script)),
  "0032_audit_log": Effect.asVoid(run(Migration0032.script)),
  "0033_checkouts": Effect.asVoid(run(Migration0033.script)),
  "0035_suspense": Effect.asVoid(run(Migration0035.script)),
  "0036_hold_invoices": Effect.asVoid(run(Migration0036.script)),
  "0037_where_keys_open": Effect.asVoid(run(Migration0037.script)),
  "0038_approvals": Effect.asVoid(run(Migration0038.script)),
  "0039_checkouts_in_frames": Effect.asVoid(run(Migration0039.script)),
  "0041_console_sessions": Effect.asVoid(run(Migration0041.script)),
  "0042_exports": Effect.asVoid(run(Migration0042.script)),
  "0043_company_fees": Effect.asVoid(run(Migration0043.script)),
  "0044_adjustments": Effect.asVoid(run(Migration0044.script)),
  "0045_refunds_on_checkouts": Effect.asVoid(run(Migration0045.script)),
  "0046_logos": Effect.asVoid(run(Migration0046.script)),
  "0047_month_ends": Effect.asVoid(run(Migration0047.script)),
  "0050_wallet_connections": Effect.asVoid(run(Migration0050.script)),
  "0051_offers": Effect.asVoid(run(Migration0051.script)),
  "0052_offers_of_ours": Effect.asVoid(run(Migration0052.script)),
  "0053_offers_by_text": Effect.asVoid(run(Migration0053.script)),
  "0071_invoice_keys": Effect.asVoid(run(Migration0071.script)),
  "0074_processes": Effect.asVoid(run(Migration0074.script)),
  "0077_audit_head": Effect.asVoid(run(Migration0077.script)),
  "0078_approved_keys": Effect.asVoid(run(Migration0078.script)),
  "0079_loosening": Effect.asVoid(run(Migration0079.script)),
  "0080_no_logos": Effect.asVoid(run(Migration0080.script)),
  ...Object.fromEntries(
    features.flatMap(({ migrations }) => Object.entries(migrations)).map(([name, script]) => [name, Effect.asVoid(run(script))])
  )
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

const explained =
  (found: number | null) =>
  <E>(error: E): E | RoleMayNot =>
    SqlError.isSqlError(error) && error.reason._tag === "AuthorizationError"
      ? new RoleMayNot({ found, known: newestKnown, why: error.message })
      : error

/** How the database stands, where this program can deal with that. */
const standing = Effect.gen(function* () {
  const found = yield* Effect.mapError(newestThere, explained(null))
  return found > newestKnown ? yield* new SchemaTooNew({ found, known: newestKnown }) : found
})

// The first start does all of it, and the others wait, however long that takes. `create schema if not exists` would want the right to make
// schemas also where there is this one.
const alone = run(`
${unhurried};
select pg_advisory_xact_lock(hashtext('${table}'));
do $$ begin if to_regnamespace('satrail') is null then create schema satrail; end if; end $$`)

const upgrade = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrator = Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })
  // Another process may have brought it further than we can while we waited.
  yield* sql.withTransaction(Effect.all([alone, standing, migrator, run(Rights.script), goOn]))
})

/**
 * Brings the tables up to date and gives the roles of roles.sql their rights, in one transaction. Any number of processes may do it at once: one
 * migrates, the others wait for it. Answers the numbers of the last migration before and now.
 */
export const migrate = Effect.gen(function* () {
  const before = yield* standing
  yield* Effect.mapError(upgrade, explained(before))
  return { before, now: newestKnown }
})

/** Part of a start: migrates where that is needed. A role that may not, and a program that is too old, fail with what to do. */
export const ready = Effect.gen(function* () {
  const found = yield* standing
  yield* Effect.mapError(found < newestKnown ? upgrade : goOn, explained(found))
})
