import { Effect, type Scope } from "effect"
import * as Fill from "./Fill.ts"
import * as Program from "./Program.ts"
import type { Group, Operation, Run } from "./Rounds.ts"
import * as Runs from "./Runs.ts"
import { type Bench, lazily, type Subject } from "./Subject.ts"

/** Programs that all subjects share. */
export interface Beside {
  readonly raw: Effect.Effect<Program.Server, Program.BenchFailed>
  readonly framework: Effect.Effect<Program.Server, Program.BenchFailed>
}

export const beside = ({ nodeArgs }: Bench): Effect.Effect<Beside, never, Scope.Scope> =>
  Effect.all({
    raw: lazily(Program.server("rawProgram")),
    framework: lazily(Program.server("frameworkProgram", { nodeArgs }))
  })

const many = Fill.spread
const [pgSpread, pgBusy, ourSpread, ourBusy] = Fill.kinds.opens

/**
 * Makes a row of the report: the measured operation, the minimum and the goal for its ratio to the limit, and
 * the goal for its growth.
 */
const row = (operation: string, companies: number, run: Run, bar?: number, aim?: number, grows?: number): Operation => ({
  operation,
  companies,
  run,
  ...(bar !== undefined && { bar }),
  ...(aim !== undefined && { aim }),
  ...(grows !== undefined && { grows })
})

/** Compares operations that need only a subject's HTTP server with the same operations of another build. */
export const against = (subject: Subject, other: Subject): ReadonlyArray<Group> => {
  const requests = ({ http }: ReturnType<typeof Runs.of>) => [
    row("balance", 1, http("balance")),
    row("get one invoice", 1, http("invoice")),
    row("list of the 50 newest", 1, http("list")),
    row("create invoice", 1, http("createInvoice")),
    row("confirm", many, http("confirmSpread", { on: "shared" })),
    row("confirm", 1, http("confirm")),
    row("confirm, 256 clients", 1, http("confirm", { clients: 256 }))
  ]
  const theirs = requests(Runs.of(other))
  return requests(Runs.of(subject)).flatMap((operation, at) =>
    theirs.slice(at, at + 1).map(({ run }) => ({ limit: "the other build", run, operations: [operation] }))
  )
}

/** Measurements of one database. Growth is measured only for operations that have a goal for it. */
export const ofDatabase = (bench: Bench, subject: Subject, { raw, framework }: Beside): ReadonlyArray<Group> => {
  const { http, pgbench, pgbenchAtBest, confirmInProcess, settleInProcess, settleByPgbench } = Runs.of(subject)
  const confirm = http("confirm")
  const confirm256 = http("confirm", { clients: 256 })
  return [
    {
      limit: "raw HTTP",
      run: Runs.bare(bench, raw),
      operations: [
        row("balance, the framework alone", 1, Runs.bare(bench, framework), undefined, undefined, 0.01),
        row("balance", 1, http("balance"), 0.4, 0.6, 0.01),
        row("get one invoice", 1, http("invoice"), 0.3, 0.48, 0.01)
      ]
    },
    { limit: "pgbench", run: pgbench("list"), half: true, operations: [row("list of the 50 newest", 1, http("list"), 0.1, 0.25, 0.01)] },
    {
      limit: "pgbench",
      run: pgbench("createInvoice"),
      half: true,
      operations: [row("create invoice", 1, http("createInvoice"), 0.25, 0.5, 0.01)]
    },
    {
      limit: "pgbench",
      run: pgbench("confirmSpread"),
      half: true,
      operations: [row("confirm", many, http("confirmSpread", { on: "shared" }), 0.8, 1.25, 0.01)]
    },
    {
      limit: "pgbench",
      run: pgbench("confirm"),
      half: true,
      operations: [row("confirm", 1, confirm, 4, 8, 0.01), row("confirm, 256 clients", 1, confirm256, 4, 8, 0.01)]
    },
    {
      limit: "pgbench at best",
      run: pgbenchAtBest("confirm"),
      operations: [row("confirm", 1, confirm, 3, 5.5), row("confirm, 256 clients", 1, confirm256, 3, 5.5)]
    },
    {
      limit: "pgbench, 128",
      run: pgbench("confirmMany"),
      operations: [row("confirm, in process, 256 clients", 1, confirmInProcess(), 0.4, 0.55, 0.01)]
    },
    {
      limit: "pgbench",
      run: settleByPgbench("settleSpread", pgSpread),
      operations: [row("settle, in process", many, settleInProcess(many, ourSpread), 0.8, 1.2, 0.01)]
    },
    {
      limit: "pgbench",
      run: settleByPgbench("settle", pgBusy),
      operations: [row("settle, in process", 1, settleInProcess(1, ourBusy), 2, 5, 0.01)]
    }
  ]
}

/** Subjects that have workers, each with its own database. */
export interface Others {
  readonly webhooks: Effect.Effect<Subject, Program.BenchFailed>
  readonly shipped: Effect.Effect<Subject, Program.BenchFailed>
}

/** Measurements of workers. */
export const ofWorkers = (subject: Subject, { webhooks, shipped }: Others): ReadonlyArray<Group> => {
  const { http, pgbench } = Runs.of(subject)
  const silent = () => Effect.flatMap(webhooks, (sending) => Runs.of(sending).http("confirm")())
  return [
    { limit: "pgbench", run: pgbench("confirm"), operations: [row("confirm, until settled", 1, Runs.untilSettled(shipped), 0.8, 3)] },
    { limit: "no sender", run: http("confirm"), operations: [row("webhooks, confirm without an endpoint", 1, silent, 0.95, 1)] }
  ]
}
