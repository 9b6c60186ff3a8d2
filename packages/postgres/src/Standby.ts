import { isYoung } from "@satrail/core/base/ReadCache"
import * as Worker from "@satrail/core/base/Worker"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, type Context, Effect, Layer, type Redacted, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { DatabaseUnreachable } from "./client/PgError.ts"
import * as PgClient from "./client/PgClient.ts"
import * as Transaction from "./reads/Transaction.ts"

// Reads lists from a standby, so they may be slightly stale. The standby cannot report its own age, because its
// clock may differ and its connection to the primary may be lost. So the primary is regularly asked for its log
// position. A standby that has replayed the log up to that position is as recent as the request.

export interface Options {
  /**
   * A standby for lists of transactions. Without it, and while it is unreachable or too far behind, lists are
   * read from the primary.
   */
  readonly readUrl?: Redacted.Redacted | undefined
  /** Maximum age of the standby's data. Default 5000. */
  readonly maxAgeMillis?: number | undefined
}

export const defaults = { maxAgeMillis: 5000, beatMillis: 1000 } as const

/** Time to wait for the standby before the primary is queried too. */
const standbyMillis = 2000

/** Identifies a database, including its timeline after a failover. */
const identity = `(select system_identifier from pg_control_system())::text || '/' || (select oid from pg_database where datname = current_database())`

const onPrimary = `
select ${identity} || '/' || ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as of,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as place`

// The control file contains the timeline of the last restart point, so for some minutes after a failover the
// standby seems to be on the old timeline, and is not used.
const onStandby = `
select ${identity} || '/' || (select timeline_id from pg_control_checkpoint()) as of,
  coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::text as place
where pg_is_in_recovery()`

const decode = Schema.decodeUnknownEffect(
  Schema.Struct({ of: Schema.String, place: Schema.BigIntFromString })
)

/** A position in the primary's log, and the time at which it was requested. */
export interface Mark {
  readonly of: string
  readonly place: bigint
  readonly atMillis: number
}

/**
 * Returns the time of the latest mark that the standby has replayed. The standby contains everything committed
 * before then. Undefined if it has replayed no mark of its own database.
 */
export const asOf = (
  marks: ReadonlyArray<Mark>,
  { of, place }: Pick<Mark, "of" | "place">
): number | undefined => marks.filter((mark) => mark.of === of && mark.place <= place).at(-1)?.atMillis

const ask = (sql: SqlClient.SqlClient, text: string) =>
  Effect.flatMap(sql.unsafe<object>(text).unprepared, ([row]) => decode(row))

/** Report reads that take lists from the standby as long as it contains everything older than `maxAgeMillis`. */
export const reports = Effect.fnUntraced(function* (
  primary: Context.Service.Shape<typeof ReportReads>,
  options: {
    readonly readUrl: Redacted.Redacted
    readonly maxAgeMillis?: number | undefined
    readonly maxConnections?: number | undefined
  }
): Effect.fn.Return<
  Context.Service.Shape<typeof ReportReads>,
  DatabaseUnreachable,
  SqlClient.SqlClient | Scope.Scope
> {
  const { readUrl: url, maxAgeMillis = defaults.maxAgeMillis, maxConnections } = options
  const first = yield* SqlClient.SqlClient
  const { sql: second } = yield* PgClient.lazily({ url, maxConnections })
  const fromStandby = Effect.provideService(SqlClient.SqlClient, second)
  const [search, transactions] = [
    yield* fromStandby(Transaction.reads.search),
    yield* fromStandby(Transaction.reads.transactions)
  ]
  let marks: ReadonlyArray<Mark> = []
  let freshMillis: number | undefined

  const beat = Effect.gen(function* () {
    const atMillis = yield* Clock.currentTimeMillis
    const { of, place } = yield* ask(first, onPrimary)
    marks = [
      ...marks.filter((mark) => isYoung(mark.atMillis, atMillis, maxAgeMillis)),
      { of, place, atMillis }
    ]
    const found = asOf(marks, yield* ask(second, onStandby))
    if (found !== undefined) freshMillis = found
  })
  yield* Worker.runOpen("standby", Effect.ignore(beat), Effect.sleep(defaults.beatMillis))

  const either =
    <Ask extends ReadonlyArray<unknown>, A>(
      recent: (...ask: Ask) => Effect.Effect<A, StoreUnavailable>,
      current: (...ask: Ask) => Effect.Effect<A, StoreUnavailable>
    ) =>
    (...asked: Ask): Effect.Effect<A, StoreUnavailable> =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        freshMillis !== undefined && isYoung(freshMillis, nowMillis, maxAgeMillis)
          ? recent(...asked).pipe(
              Effect.timeoutOrElse({ duration: standbyMillis, orElse: () => current(...asked) }),
              Effect.catchTag("StoreUnavailable", () => current(...asked))
            )
          : current(...asked)
      )
  return {
    ...primary,
    search: either(search, primary.search),
    transactions: either(transactions, primary.transactions)
  }
})

/** Replaces the existing report reads with these. */
export const layer = (options: Parameters<typeof reports>[1]) =>
  Layer.effect(
    ReportReads,
    Effect.flatMap(ReportReads, (primary) => reports(primary, options))
  )
