import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Bars from "./Bars.ts"
import * as Fill from "./Fill.ts"
import { percentile } from "./Load.ts"
import * as Program from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Report from "./Report.ts"
import type { Whole } from "./Subject.ts"

export const statements = "idle, statements"
export const pickUp = "idle, commit to pick-up"

const settledMillis = 15_000
const countedMillis = 60_000
const commits = 100
const commitEveryMillis = 100

const count = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe<{ readonly calls: string }>(
    "select sum(calls)::text as calls from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())"
  )
).pipe(Effect.map(([row]) => Number(row?.calls)))

/** What a whole service asks its database in a minute in which nothing happens. Nothing where PostgreSQL does not count. */
export const measured = Effect.fnUntraced(function* (whole: Whole, { tell }: Options) {
  const counting = Effect.gen(function* () {
    if (!(yield* Fill.countStatements)) return []
    yield* Effect.sleep(settledMillis)
    const before = yield* count
    yield* Effect.sleep(countedMillis)
    // The count itself is one.
    const asked = (yield* count) - before - 1
    tell(statements)
    const what = { operation: statements, pattern: "one process", unit: "a minute", target: Bars.maxIdleStatements } as const
    return [Report.size({ ...what, first: null }, [asked])]
  })
  return yield* Effect.provide(counting, Fill.client(whole.databaseUrl)).pipe(
    Effect.mapError((cause) => new Program.BenchFailed({ message: String(cause) }))
  )
})

/** How long after its commit an open stream of events has what was committed. */
export const late = (whole: Whole, { tell }: Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [key = ""] = whole.keys
      const base = `http://127.0.0.1:${whole.server.port}`
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const failed = (cause: unknown) => new Program.BenchFailed({ message: String(cause) })
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (abort) => Effect.sync(() => abort.abort())
      )
      const millis: Array<number> = []
      const { body } = yield* Effect.tryPromise({
        try: () => fetch(`${base}/v1/events/stream`, { headers, signal: abort.signal }),
        catch: failed
      })
      const lines = (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())
      yield* Effect.forkScoped(
        Effect.tryPromise({
          try: async () => {
            for await (const text of lines)
              for (const [, at = ""] of text.matchAll(/"timestamp":"([^"]+)"/g)) millis.push(Date.now() - Date.parse(at))
          },
          catch: failed
        })
      )
      const create = Effect.tryPromise({
        try: () =>
          fetch(`${base}/v1/bitcoin/deposit/lightning-invoice`, {
            method: "POST",
            headers,
            body: JSON.stringify({ amount: 1000, currency: "sats" })
          }).then((answer) => answer.arrayBuffer()),
        catch: failed
      })
      yield* Effect.repeat(create, { schedule: Schedule.spaced(commitEveryMillis), times: commits - 1 })
      yield* Effect.repeat(
        Effect.suspend(() => Effect.sleep(100)),
        { until: () => millis.length >= commits }
      ).pipe(Effect.timeoutOrElse({ duration: settledMillis, orElse: () => Effect.fail(failed("events did not arrive at the stream")) }))
      tell(pickUp)
      const sorted = Float64Array.from(millis).toSorted()
      return ([0.5, 0.99] as const).map((part) =>
        Report.size(
          {
            operation: `${pickUp}, p${part * 100}`,
            pattern: `an open stream, ${1000 / commitEveryMillis} events a second`,
            unit: "ms",
            target: null,
            first: null
          },
          [percentile(sorted, part)]
        )
      )
    })
  )
