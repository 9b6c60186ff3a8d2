import { ReportReads } from "@satrail/core/reports/ReportReads"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, type Context, Effect, Layer, type Redacted, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { DatabaseUnreachable } from "./client/PgError.ts"
import * as PgClient from "./client/PgClient.ts"
import * as Transaction from "./reads/Transaction.ts"

// Lists that may be a moment old are asked of a standby. How old it is, is not the standby's word, whose clock may be another and whose connection to the primary may
// be gone: again and again the primary says how far its log is, and what the standby has replayed up to there it has as of the moment when that was asked.

export interface Options {
  /** A standby, for lists of transactions. Without it, and while it is away or too far behind, the primary is asked. */
  readonly readUrl?: Redacted.Redacted | undefined
  /** How old what it answers may be. Default 5000. */
  readonly maxAgeMillis?: number | undefined
}

export const defaults = { maxAgeMillis: 5000, beatMillis: 1000 } as const

/** How long the standby may take to answer before the primary is asked as well. */
const standbyMillis = 2000

/** What tells one database from another, and from its own past before a failover. */
const identity = `(select system_identifier from pg_control_system())::text || '/' || (select oid from pg_database where datname = current_database())`

const onPrimary = `
select ${identity} || '/' || ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as of,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as place`

// Its control file has the timeline of its last restart point: for some minutes after a failover it is taken for one of before, and not asked.
const onStandby = `
select ${identity} || '/' || (select timeline_id from pg_control_checkpoint()) as of,
  coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::text as place
where pg_is_in_recovery()`

const decode = Schema.decodeUnknownEffect(Schema.Struct({ of: Schema.String, place: Schema.BigIntFromString }))

/** A place of the primary's log, and when that was asked. */
export interface Mark {
  readonly of: string
  readonly place: bigint
  readonly atMillis: number
}

/** As of when a standby has everything: the latest mark that it has replayed. Undefined where it has none, or is another database's. */
export const asOf = (marks: ReadonlyArray<Mark>, { of, place }: Pick<Mark, "of" | "place">): number | undefined =>
  marks.filter((mark) => mark.of === of && mark.place <= place).at(-1)?.atMillis

const ask = (sql: SqlClient.SqlClient, text: string) => Effect.flatMap(sql.unsafe<object>(text).unprepared, ([row]) => decode(row))

/** The reads of reports, of which lists are asked of the standby while it has everything that is older than `maxAgeMillis`. */
export const reports = Effect.fnUntraced(function* (
  primary: Context.Service.Shape<typeof ReportReads>,
  options: { readonly readUrl: Redacted.Redacted; readonly maxAgeMillis?: number | undefined; readonly maxConnections?: number | undefined }
): Effect.fn.Return<Context.Service.Shape<typeof ReportReads>, DatabaseUnreachable, SqlClient.SqlClient | Scope.Scope> {
  const { readUrl: url, maxAgeMillis = defaults.maxAgeMillis, maxConnections } = options
  const first = yield* SqlClient.SqlClient
  const { sql: second } = yield* PgClient.lazily({ url, maxConnections })
  const fromStandby = Effect.provideService(SqlClient.SqlClient, second)
  const [search, transactions] = [yield* fromStandby(Transaction.reads.search), yield* fromStandby(Transaction.reads.transactions)]
  let marks: ReadonlyArray<Mark> = []
  let freshMillis: number | undefined

  const beat = Effect.gen(function* () {
    const atMillis = yield* Clock.currentTimeMillis
    const { of, place } = yield* ask(first, onPrimary)
    marks = [...marks.filter((mark) => atMillis - mark.atMillis <= maxAgeMillis), { of, place, atMillis }]
    const found = asOf(marks, yield* ask(second, onStandby))
    if (found !== undefined) freshMillis = found
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(beat), Effect.sleep(defaults.beatMillis))))

  const either =
    <Ask extends ReadonlyArray<unknown>, A>(
      recent: (...ask: Ask) => Effect.Effect<A, StoreUnavailable>,
      current: (...ask: Ask) => Effect.Effect<A, StoreUnavailable>
    ) =>
    (...asked: Ask): Effect.Effect<A, StoreUnavailable> =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        freshMillis !== undefined && nowMillis - freshMillis <= maxAgeMillis
          ? recent(...asked).pipe(
              Effect.timeoutOrElse({ duration: standbyMillis, orElse: () => current(...asked) }),
              Effect.catchTag("StoreUnavailable", () => current(...asked))
            )
          : current(...asked)
      )
  return { ...primary, search: either(search, primary.search), transactions: either(transactions, primary.transactions) }
})

/** The same in the place of those that are there. */
export const layer = (options: Parameters<typeof reports>[1]) =>
  Layer.effect(
    ReportReads,
    Effect.flatMap(ReportReads, (primary) => reports(primary, options))
  )
