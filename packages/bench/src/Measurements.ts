import { Effect, type Scope } from "effect"
import * as Fill from "./Fill.ts"
import * as Program from "./Program.ts"
import type { Group, Operation } from "./Rounds.ts"
import * as Runs from "./Runs.ts"
import { type Bench, type Lazy, lazily, type Subject } from "./Subject.ts"

/** The operations that need only a subject's HTTP server. */
const served = (subject: Subject) =>
  ({
    balance: { operation: "balance", companies: 1, run: Runs.http(subject, "balance") },
    invoice: { operation: "get one invoice", companies: 1, run: Runs.http(subject, "invoice") },
    list: { operation: "list of the 50 newest", companies: 1, run: Runs.http(subject, "list") },
    createInvoice: { operation: "create invoice", companies: 1, run: Runs.http(subject, "createInvoice") },
    confirmSpread: {
      operation: "confirm",
      companies: Fill.spread,
      run: Runs.http(subject, "confirmSpread", 64, "shared")
    },
    confirm: { operation: "confirm", companies: 1, run: Runs.http(subject, "confirm") },
    confirm256: { operation: "confirm, 256 clients", companies: 1, run: Runs.http(subject, "confirm", 256) }
  }) satisfies Record<string, Operation>

/** Compares operations with the same operations of another build. */
export const against = (subject: Subject, other: Subject): ReadonlyArray<Group> => {
  const theirs = Object.values(served(other))
  return Object.values(served(subject)).flatMap((operation, at) =>
    theirs.slice(at, at + 1).map(({ run }) => ({ limit: "the other build", run, operations: [operation] }))
  )
}

/** The operations on one database. Growth is measured for each of them. */
export const operations = (subject: Subject) => ({
  ...served(subject),
  inProcess: {
    operation: "confirm, in process, 256 clients",
    companies: 1,
    run: Runs.sendInProcess(subject, "confirm")
  },
  settle: { operation: "settle, in process", companies: Fill.spread, run: Runs.settleInProcess(subject) }
})

/** Returns the operations with their limits. `webhooks` and `shipped` run workers. `idle` is as young as `webhooks`, and runs none. */
export const groups = Effect.fnUntraced(function* (
  bench: Bench,
  subject: Subject,
  { idle, webhooks, shipped }: { readonly [name in "idle" | "webhooks" | "shipped"]: Lazy<Subject> }
): Effect.fn.Return<ReadonlyArray<Group>, never, Scope.Scope> {
  const raw = yield* lazily(Program.server("rawProgram"))
  const framework = yield* lazily(Program.server("frameworkProgram", { nodeArgs: bench.nodeArgs }))
  const { balance, invoice, list, createInvoice, confirmSpread, confirm, confirm256, inProcess, settle } =
    operations(subject)
  const alone: Operation = {
    operation: "balance, the framework alone",
    companies: 1,
    run: Runs.bare(bench, framework)
  }
  const confirmAt = (subject: Lazy<Subject>) => () =>
    Effect.flatMap(subject, (one) => Runs.http(one, "confirm")())
  const barred = (operation: Operation, bar: number, aim: number): Operation => ({ ...operation, bar, aim })
  const transferTo = (operation: string, kind: "transfer" | "transferSpread"): Operation => ({
    operation,
    companies: 1,
    run: Runs.sendInProcess(subject, kind)
  })
  const creditOf = (operation: string, kind: "settle3" | "settle10"): Operation => ({
    operation,
    companies: Fill.spread,
    run: Runs.settleInProcess(subject, kind)
  })
  const limit = "pgbench"
  const pgbench = Runs.pgbench(subject, "confirm")
  return [
    {
      limit: "raw HTTP",
      run: Runs.bare(bench, raw),
      operations: [alone, barred(balance, 0.4, 0.6), barred(invoice, 0.3, 0.48)]
    },
    { limit, run: Runs.pgbench(subject, "list"), half: true, operations: [barred(list, 0.1, 0.25)] },
    {
      limit,
      run: Runs.pgbench(subject, "createInvoice"),
      half: true,
      operations: [barred(createInvoice, 0.25, 0.5)]
    },
    {
      limit,
      run: Runs.pgbench(subject, "confirmSpread"),
      half: true,
      operations: [barred(confirmSpread, 0.8, 1.25)]
    },
    { limit, run: pgbench, half: true, operations: [barred(confirm, 4, 8), barred(confirm256, 4, 8)] },
    {
      limit: "pgbench at best",
      run: Runs.pgbenchAtBest(subject, "confirm"),
      operations: [barred(confirm, 3, 5.5), barred(confirm256, 3, 5.5)]
    },
    {
      limit: "pgbench, 128",
      run: Runs.pgbench(subject, "confirmMany"),
      operations: [barred(inProcess, 0.4, 0.55)]
    },
    { limit, run: Runs.settleByPgbench(subject), operations: [barred(settle, 0.8, 1.2)] },
    {
      limit: "confirm, in process",
      run: inProcess.run,
      operations: [
        barred(transferTo("transfer, one to one", "transfer"), 1.1, 1.3),
        barred(transferTo("transfer, one to 1,000", "transferSpread"), 0.9, 1)
      ]
    },
    {
      limit: "settle, in process",
      run: settle.run,
      operations: [
        barred(creditOf("settle with 3 payees", "settle3"), 0.5, 0.6),
        barred(creditOf("settle with 10 payees", "settle10"), 0.25, 0.3)
      ]
    },
    {
      limit,
      run: pgbench,
      operations: [
        barred({ operation: "confirm, until settled", companies: 1, run: Runs.untilSettled(shipped) }, 0.8, 3)
      ]
    },
    {
      limit: "no sender",
      run: confirmAt(idle),
      operations: [
        barred(
          { operation: "webhooks, confirm without an endpoint", companies: 1, run: confirmAt(webhooks) },
          0.95,
          1
        )
      ]
    }
  ]
})
