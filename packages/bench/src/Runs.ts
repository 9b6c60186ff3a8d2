import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Bars from "./Bars.ts"
import type * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import * as Pgbench from "./Pgbench.ts"
import * as Program from "./Program.ts"
import type { What } from "./Report.ts"
import * as Requests from "./Requests.ts"
import type { Pair, Server, Subject, Whole } from "./Subject.ts"

export interface Operation {
  readonly what: What
  /** As fast as it goes; or, where requests can come at random, so many times a second. */
  readonly run: (perSecond?: number) => Effect.Effect<Pgbench.Measured, Program.BenchFailed>
}

/** What operations are compared with. */
export interface Limit {
  readonly limit: string
  readonly run: (perSecond?: number) => Effect.Effect<Pgbench.Rate, Program.BenchFailed>
}

/** Operations that are compared with one limit, which is measured with them in every round; and with another one, where there are two ways to see it. */
export interface Group extends Limit {
  readonly other?: Limit
  readonly operations: ReadonlyArray<Operation>
  /** Its first operation and the limit are measured at half of their rates too, at random. */
  readonly half?: true
}

/** How long a run is, and how long before it nothing is counted. */
export const times = (seconds: number) => ({ warmupMillis: 300, millis: seconds * 1000 })

/** More open invoices than anybody settles a second, until a round has shown how many that are. */
const firstGuessPerSecond = 20_000

const add = (one: number | undefined, other: number | undefined) => (one === undefined || other === undefined ? undefined : one + other)

/** What a run costs the processes and the database, for each of what it did. */
export const costed = <A extends Pgbench.Rate>(
  subject: Subject,
  pids: ReadonlyArray<number>,
  run: Effect.Effect<A, Program.BenchFailed>,
  count: (outcome: A) => number
) =>
  Effect.gen(function* () {
    const cpuMicros = () => pids.reduce<number | undefined>((sum, pid) => add(sum, Program.cpuMicros(pid)), 0)
    const [before, cpuBefore] = [yield* subject.spent, cpuMicros()]
    const outcome = yield* run
    const [cpuAfter, after] = [cpuMicros(), yield* subject.spent]
    const each = (from: number | undefined, to: number | undefined) =>
      from === undefined || to === undefined ? undefined : (to - from) / count(outcome)
    return {
      ...outcome,
      cpuMicros: each(cpuBefore, cpuAfter),
      walBytes: (after.walBytes - before.walBytes) / count(outcome),
      roundTrips: each(before.statements, after.statements)
    } satisfies Pgbench.Measured
  })

/** A script with as many clients as it is fastest with here, which is tried out first. */
export const pgAtBest = (pgbench: Pgbench.Pgbench, seconds: number, script: Pgbench.Script, clients: ReadonlyArray<number>): Limit => {
  let best: Pgbench.Script | undefined
  const tried = Effect.gen(function* () {
    let most = 0
    for (const number of clients) {
      const { perSecond } = yield* Pgbench.run(pgbench, { ...script, clients: number }, 1)
      if (perSecond > most) [most, best] = [perSecond, { ...script, clients: number }]
    }
  })
  return {
    limit: Bars.atBest,
    run: Effect.fnUntraced(function* () {
      if (best === undefined) yield* tried
      return yield* Pgbench.run(pgbench, best ?? script, seconds)
    })
  }
}

/**
 * Confirms as fast as a whole service takes them: how many it takes a second, and how many have reached their payee, of the whole time until the last one has. Nothing else is measured
 * before that.
 */
export const untilSettled = (
  subject: Subject,
  generator: Generator,
  seconds: number,
  { databaseUrl, keys, server }: Whole
): ReadonlyArray<Operation> => {
  const what = { pattern: "one company", clients: 64 }
  const requests = Requests.make(keys).confirm
  const run = (operation: string, perSecond?: number) =>
    Effect.gen(function* () {
      const began = performance.now()
      const load = {
        port: server.port,
        clients: what.clients,
        ...times(seconds),
        requests,
        ...(perSecond === undefined ? {} : { perSecond })
      }
      const outcome = yield* generator(operation, load)
      yield* Effect.mapError(
        Effect.provide(Fill.carriedOut, Fill.client(databaseUrl)),
        ({ message }) => new Program.BenchFailed({ message })
      )
      return { ...outcome, settledPerSecond: (outcome.sent * 1000) / (performance.now() - began) }
    })
  const measured = (operation: string, told: (outcome: Effect.Success<ReturnType<typeof run>>) => number): Operation => ({
    what: { operation, ...what },
    run: (perSecond) =>
      Effect.map(
        costed(subject, [server.pid], run(operation, perSecond), ({ sent }) => sent),
        (outcome) => ({ ...outcome, perSecond: told(outcome) })
      )
  })
  return [measured(Bars.carriedOut, ({ perSecond }) => perSecond), measured(Bars.untilSettled, ({ settledPerSecond }) => settledPerSecond)]
}

/** The ways in which something is run on a subject, and measured. */
export const make = (subject: Subject, generator: Generator, seconds: number) => {
  const { api, journal, sql, pgbench } = subject
  const { warmupMillis, millis } = times(seconds)

  /** Over HTTP, as clients ask. */
  const http = (
    operation: string,
    pattern: string,
    clients: number,
    asked: ReadonlyArray<string>,
    { port, pid, beside }: Server & Partial<Pair> = api
  ): Operation => ({
    what: { operation, pattern, clients },
    run: (perSecond) =>
      costed(
        subject,
        beside === undefined ? [pid] : [pid, beside.pid],
        generator(operation, {
          port,
          ...(beside && { beside: beside.port }),
          clients,
          warmupMillis,
          millis,
          requests: asked,
          ...(perSecond === undefined ? {} : { perSecond })
        }),
        ({ sent }) => sent
      )
  })

  /** What is asked may depend on what was settled before. */
  const inProcess = (
    what: What,
    ask: Effect.Effect<Pick<Drive.Drive, "operation" | "companies" | "kind" | "first" | "end" | "audited">, Program.BenchFailed>,
    then: (outcome: Drive.Outcome) => void = () => {}
  ): Operation => ({
    what,
    run: () =>
      Effect.flatMap(ask, (asked) =>
        costed(
          subject,
          [journal.pid],
          Effect.tap(subject.drive({ ...asked, clients: what.clients, warmupMillis, millis }), (outcome) =>
            Effect.sync(() => then(outcome))
          ),
          ({ committed }) => committed
        )
      )
  })

  /** Keeps as many invoices of a kind open as will be settled. `next` is the first that was not settled yet. */
  const opening = (kind: number, next: Effect.Effect<number, Program.BenchFailed>) => {
    let end = 0
    let perSecond = firstGuessPerSecond
    return {
      ready: Effect.gen(function* () {
        const first = yield* next
        const missing = Math.ceil(perSecond * 1.5 * (seconds + 1)) - (end - first)
        if (missing > 0) {
          yield* Effect.provideService(Fill.open(kind, end, missing), SqlClient.SqlClient, sql)
          end += missing
        }
        return { first, end }
      }),
      ran: (outcome: Pgbench.Outcome) => {
        perSecond = outcome.perSecond
      }
    }
  }

  /** Invoices of a kind are settled in process, by so many companies. */
  const settle = (pattern: string, companies: number, kind: number): Operation => {
    let next = 0
    const { ready, ran } = opening(
      kind,
      Effect.sync(() => next)
    )
    const ask = Effect.map(ready, (invoices) => ({ operation: "settle" as const, companies, kind, ...invoices }))
    return inProcess({ operation: "settle, in process", pattern, clients: 64 }, ask, (outcome) => {
      next = outcome.next
      ran(outcome)
    })
  }

  /** The same work by pgbench on our own tables. */
  const pg = (script: Pgbench.Script) => ({
    limit: script.name,
    run: (perSecond?: number) => Pgbench.run(pgbench, script, seconds, perSecond)
  })

  const pgSettle = (script: Pgbench.Script, kind: number) => {
    const next = Effect.provideService(Fill.settledByPgbench(kind), SqlClient.SqlClient, sql)
    const { ready, ran } = opening(kind, next)
    return {
      limit: script.name,
      run: () =>
        Effect.andThen(
          ready,
          Effect.tap(Pgbench.run(pgbench, script, seconds), (outcome) => Effect.sync(() => ran(outcome)))
        )
    }
  }

  return { http, inProcess, settle, pg, pgSettle }
}
