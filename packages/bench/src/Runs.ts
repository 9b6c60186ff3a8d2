import { Effect } from "effect"
import type * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import { warmupMillis } from "./Load.ts"
import * as Pgbench from "./Pgbench.ts"
import * as Program from "./Program.ts"
import * as Requests from "./Requests.ts"
import type { Rate, Run } from "./Rounds.ts"
import type { Bench, Subject } from "./Subject.ts"

type Measured<A> = Effect.Effect<A, Program.BenchFailed>
type Script = keyof typeof Pgbench.scripts

/** Runs something and adds its costs per operation: processor time and, for a subject, WAL bytes and statements. */
const costed = <A extends Rate & { readonly sent: number }>(
  pid: number,
  run: Measured<A>,
  subject?: Pick<Subject, "spent">
) =>
  Effect.gen(function* () {
    const spent = subject?.spent ?? Effect.succeed({ walBytes: undefined, statements: undefined })
    const [before, cpuBefore] = [yield* spent, Program.cpuMicros(pid)]
    const outcome = yield* run
    const [cpuAfter, after] = [Program.cpuMicros(pid), yield* spent]
    const each = (from: number | undefined, to: number | undefined) =>
      from === undefined || to === undefined ? undefined : (to - from) / outcome.sent
    return {
      ...outcome,
      cpuMicros: each(cpuBefore, cpuAfter),
      walBytes: each(before.walBytes, after.walBytes),
      roundTrips: each(before.statements, after.statements)
    }
  })

/** Sends requests over HTTP for the configured time. */
const requested = (
  { generator, seconds }: Pick<Bench, "generator" | "seconds">,
  port: number,
  requests: ReadonlyArray<string>,
  clients = 64,
  perSecond?: number
) =>
  generator({
    port,
    requests,
    clients,
    warmupMillis,
    millis: seconds * 1000,
    ...(perSecond !== undefined && { perSecond })
  })

/** Sends requests to one of the subject's servers. */
export const http =
  (
    subject: Subject,
    requests: keyof Requests.Requests,
    clients?: number,
    on: "server" | "shared" = "server"
  ): Run =>
  (perSecond) =>
    Effect.gen(function* () {
      const { pid, port } = on === "server" ? subject.server : yield* subject.shared
      return yield* costed(
        pid,
        requested(subject, port, subject.requests[requests], clients, perSecond),
        subject
      )
    })

/** Sends requests to a server that has no database. */
export const bare =
  (bench: Bench, server: Measured<Program.Server>): Run =>
  () =>
    Effect.flatMap(server, ({ pid, port }) => costed(pid, requested(bench, port, Requests.plain)))

export const pgbench =
  (subject: Subject, script: Script): Run =>
  (perSecond) =>
    Pgbench.run(subject.pgbench, Pgbench.scripts[script], subject.seconds, perSecond)

/** Runs a script with the number of clients at which it is fastest. The first run determines that number. */
export const pgbenchAtBest = (subject: Subject, name: Script): Run => {
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

/** Commits in the Journal's process for the configured time. */
const inProcess = (subject: Subject, asked: Pick<Drive.Drive, "operation" | "clients" | "first" | "end">) =>
  Effect.flatMap(subject.journal, ({ pid, drive }) =>
    costed(pid, drive({ ...asked, warmupMillis, millis: subject.seconds * 1000 }), subject)
  )

/** Sends from one company in the Journal's process. */
export const sendInProcess =
  (subject: Subject, operation: "confirm" | "transfer" | "transferSpread"): Run =>
  () =>
    inProcess(subject, { operation, clients: 256, first: 0, end: Number.MAX_SAFE_INTEGER })

/** An estimate for the first run, higher than the number of invoices that can be settled in a second. */
const firstGuessPerSecond = 20_000

/**
 * Opens enough invoices of a kind before each run that `settle` cannot run out of them. `next` is the number of
 * the first invoice that it left open.
 */
const settling = (
  { sql, seconds }: Subject,
  kind: number,
  settle: (open: {
    readonly first: number
    readonly end: number
  }) => Measured<Rate & { readonly next: number }>
): Run => {
  let [first, end, perSecond] = [0, 0, firstGuessPerSecond]
  return Effect.fnUntraced(function* () {
    const missing = Math.ceil(perSecond * 1.5 * (seconds + 1)) - (end - first)
    if (missing > 0) {
      yield* sql(Fill.open(kind, end, missing))
      end += missing
    }
    const outcome = yield* settle({ first, end })
    first = outcome.next
    perSecond = outcome.perSecond
    return outcome
  })
}

export const settleByPgbench = (subject: Subject): Run =>
  settling(subject, Fill.kinds.settledByPgbench, () =>
    Effect.gen(function* () {
      const rate = yield* pgbench(subject, "settle")()
      return { ...rate, next: yield* subject.sql(Fill.settledByPgbench) }
    })
  )

const settled = {
  settle: Fill.kinds.settledInProcess,
  settle3: Fill.kinds.settledWith3,
  settle10: Fill.kinds.settledWith10
} as const

/** Settles invoices in the Journal's process, also with the shares of 3 or 10 payees. */
export const settleInProcess = (subject: Subject, operation: keyof typeof settled = "settle"): Run =>
  settling(subject, settled[operation], (open) => inProcess(subject, { operation, clients: 64, ...open }))

/**
 * Confirms withdrawals at the shipped service. The rate is the number of settled withdrawals divided by the
 * time until the last one settles.
 */
export const untilSettled = (whole: Measured<Subject>): Run =>
  Effect.fnUntraced(function* () {
    const subject = yield* whole
    const { pid, port } = subject.server
    const settled = Effect.gen(function* () {
      const began = performance.now()
      const outcome = yield* requested(subject, port, subject.requests.confirm)
      yield* subject.sql(Fill.carriedOut)
      return { ...outcome, perSecond: (outcome.sent * 1000) / (performance.now() - began) }
    })
    return yield* costed(pid, settled, subject)
  })
