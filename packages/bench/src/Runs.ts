import { Effect } from "effect"
import * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import * as Load from "./Load.ts"
import * as Pgbench from "./Pgbench.ts"
import * as Program from "./Program.ts"
import * as Requests from "./Requests.ts"
import type { Rate, Run } from "./Rounds.ts"
import type { Bench, Subject } from "./Subject.ts"

const { warmupMillis } = Load

type Measured<A> = Effect.Effect<A, Program.BenchFailed>
type Requested = keyof Requests.Requests
type Script = keyof typeof Pgbench.scripts
type Served = "server" | "shared"

/** Runs something and adds its costs per operation: processor time, WAL bytes and statements. */
const costed = <A extends Rate>(subject: Subject, pid: number, run: Measured<A>, count: (outcome: A) => number) =>
  Effect.gen(function* () {
    const [before, cpuBefore] = [yield* subject.spent, Program.cpuMicros(pid)]
    const outcome = yield* run
    const [cpuAfter, after] = [Program.cpuMicros(pid), yield* subject.spent]
    const each = (from: number | undefined, to: number | undefined) =>
      from === undefined || to === undefined ? undefined : (to - from) / count(outcome)
    return {
      ...outcome,
      cpuMicros: each(cpuBefore, cpuAfter),
      walBytes: (after.walBytes - before.walBytes) / count(outcome),
      roundTrips: each(before.statements, after.statements)
    }
  })

/** Sends requests over HTTP from `clients` connections to one of the subject's servers. */
const http =
  (
    subject: Subject,
    requested: Requested,
    { clients = 64, on = "server" }: { readonly clients?: number; readonly on?: Served } = {}
  ): Run =>
  (perSecond) =>
    Effect.gen(function* () {
      const server = yield* on === "server" ? Effect.succeed(subject.server) : subject[on]
      const load = {
        port: server.port,
        clients,
        warmupMillis,
        millis: subject.seconds * 1000,
        requests: subject.requests[requested],
        ...(perSecond !== undefined && { perSecond })
      }
      return yield* costed(subject, server.pid, subject.generator(load), ({ sent }) => sent)
    })

/** Sends requests to a server that has no database. */
export const bare =
  ({ generator, seconds }: Bench, server: Measured<Program.Server>): Run =>
  () =>
    Effect.gen(function* () {
      const { port, pid } = yield* server
      const before = Program.cpuMicros(pid)
      const outcome = yield* generator({ port, clients: 64, warmupMillis, millis: seconds * 1000, requests: Requests.plain })
      const after = Program.cpuMicros(pid)
      return { ...outcome, ...(before !== undefined && after !== undefined && { cpuMicros: (after - before) / outcome.sent }) }
    })

const pgbench =
  (subject: Subject, script: Script): Run =>
  (perSecond) =>
    Pgbench.run(subject.pgbench, Pgbench.scripts[script], subject.seconds, perSecond)

/** Runs a script with the number of clients at which it is fastest. The first run determines that number. */
const pgbenchAtBest = (subject: Subject, name: Script): Run => {
  const script: Pgbench.Script = Pgbench.scripts[name]
  let best: Pgbench.Script | undefined
  return Effect.fnUntraced(function* () {
    let most = 0
    for (const clients of best === undefined ? [2, 4, 8, 16, 32] : []) {
      const { perSecond } = yield* Pgbench.run(subject.pgbench, { ...script, clients }, 1)
      if (perSecond > most) [most, best] = [perSecond, { ...script, clients }]
    }
    return yield* Pgbench.run(subject.pgbench, best ?? script, subject.seconds)
  })
}

/** Confirms withdrawals in the Journal's process. */
const confirmInProcess =
  (subject: Subject): Run =>
  () =>
    Effect.flatMap(subject.journal, ({ pid, drive }) => {
      const asked = { operation: "confirm" as const, companies: 1, clients: 256, kind: 0, first: 0, end: Drive.endless }
      return costed(subject, pid, drive({ ...asked, warmupMillis, millis: subject.seconds * 1000 }), ({ committed }) => committed)
    })

/** An estimate for the first run, higher than the number of invoices that can be settled in a second. */
const firstGuessPerSecond = 20_000

/**
 * Opens enough invoices of a kind before each run that `settle` cannot run out of them. `next` is the number of
 * the first open invoice.
 */
const settling = (
  { sql, seconds }: Subject,
  kind: number,
  next: Measured<number>,
  settle: (open: { readonly first: number; readonly end: number }) => Measured<Rate>
): Run => {
  let end = 0
  let perSecond = firstGuessPerSecond
  return Effect.fnUntraced(function* () {
    const first = yield* next
    const missing = Math.ceil(perSecond * 1.5 * (seconds + 1)) - (end - first)
    if (missing > 0) {
      yield* sql(Fill.open(kind, end, missing))
      end += missing
    }
    const outcome = yield* settle({ first, end })
    perSecond = outcome.perSecond
    return outcome
  })
}

const settleByPgbench = (subject: Subject, script: Script, kind: number): Run =>
  settling(subject, kind, subject.sql(Fill.settledByPgbench(kind)), () => pgbench(subject, script)())

const settleInProcess = (subject: Subject, companies: number, kind: number): Run => {
  let next = 0
  const settled = Effect.sync(() => next)
  return settling(subject, kind, settled, (open) =>
    Effect.flatMap(subject.journal, ({ pid, drive }) => {
      const asked = { operation: "settle" as const, companies, clients: 64, kind, ...open }
      const run = Effect.tap(drive({ ...asked, warmupMillis, millis: subject.seconds * 1000 }), (outcome) =>
        Effect.sync(() => {
          next = outcome.next
        })
      )
      return costed(subject, pid, run, ({ committed }) => committed)
    })
  )
}

/**
 * Confirms withdrawals at the shipped service. The rate is the number of settled withdrawals divided by the
 * time until the last one settles.
 */
export const untilSettled = (whole: Measured<Subject>): Run =>
  Effect.fnUntraced(function* () {
    const subject = yield* whole
    const began = performance.now()
    const settled = Effect.gen(function* () {
      const { sent, p50Millis, p99Millis } = yield* subject.generator({
        port: subject.server.port,
        clients: 64,
        warmupMillis,
        millis: subject.seconds * 1000,
        requests: subject.requests.confirm
      })
      yield* subject.sql(Fill.carriedOut)
      return { sent, p50Millis, p99Millis, perSecond: (sent * 1000) / (performance.now() - began) }
    })
    return yield* costed(subject, subject.server.pid, settled, ({ sent }) => sent)
  })

/** Returns the functions of this file, bound to a subject. */
export const of = (subject: Subject) => {
  const bound =
    <Args extends ReadonlyArray<unknown>>(run: (subject: Subject, ...args: Args) => Run) =>
    (...args: Args) =>
      run(subject, ...args)
  return {
    http: bound(http),
    pgbench: bound(pgbench),
    pgbenchAtBest: bound(pgbenchAtBest),
    confirmInProcess: bound(confirmInProcess),
    settleInProcess: bound(settleInProcess),
    settleByPgbench: bound(settleByPgbench)
  }
}
