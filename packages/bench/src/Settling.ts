import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Agent } from "node:http"
import * as Bars from "./Bars.ts"
import * as Caller from "./Caller.ts"
import * as Fill from "./Fill.ts"
import { BenchFailed } from "./Program.ts"
import type * as Pgbench from "./Pgbench.ts"
import * as Requests from "./Requests.ts"
import type * as Reports from "./Reports.ts"
import * as Runs from "./Runs.ts"
import type * as Subject from "./Subject.ts"

/** Where balances are read, and what has a node report what it was paid. */
export interface Reported {
  readonly port: number
  readonly keys: ReadonlyArray<string>
  readonly report: (run: Reports.Run) => Effect.Effect<void>
}

const Balance = Schema.Struct({ data: Schema.Struct({ balance: Schema.Finite }) })

/** Settled in the first round, while the rate is not known. */
const fewest = 500
const lookMillis = 20

/** Which of `bench.open`'s companies has this invoice. */
const companyOf = (companies: number, number: number) => (companies === 1 ? Fill.busy : 1 + (number % companies))

/**
 * Of a run of 1 sat each: from the node's first report until the last deposit is in its company's balance, which is what is `measured`. All of them must be in a balance
 * then.
 */
export const reported = Effect.fnUntraced(function* <A extends Pgbench.Rate>(
  { keys, port, report }: Reported,
  companies: number,
  run: Reports.Run,
  measured: (timed: Effect.Effect<Pgbench.Rate, BenchFailed>) => Effect.Effect<A, BenchFailed>
) {
  const agent = new Agent({ keepAlive: true })
  const balance = (company: number) => {
    const ask = Caller.make(port, { authorization: `Bearer ${keys[company - 1] ?? ""}` }, agent)
    return Effect.map(ask("GET", Requests.balances, Balance), ({ data }) => data.balance)
  }
  const numbers = Array.from({ length: run.count }, (_, at) => run.first + at)
  const sharing = [...new Set(numbers.map((number) => companyOf(companies, number)))]
  const sum = Effect.map(Effect.forEach(sharing, balance, { concurrency: 16 }), (all) => all.reduce((sats, more) => sats + more, 0))
  const last = companyOf(companies, run.first + run.count - 1)
  const due = numbers.filter((number) => companyOf(companies, number) === last).length
  const [before, lastBefore] = [yield* sum, yield* balance(last)]
  const timed = Effect.gen(function* () {
    const began = performance.now()
    yield* report(run)
    yield* Caller.until(
      due,
      Effect.map(balance(last), (now) => lastBefore + due - now),
      lookMillis
    )
    return { perSecond: (run.count * 1000) / (performance.now() - began) }
  })
  const outcome = yield* measured(timed)
  const credited = (yield* sum) - before
  agent.destroy()
  if (credited !== run.count)
    return yield* new BenchFailed({ message: `${run.count} settlements were reported, and the balances have ${credited} sats more` })
  return outcome
})

const [, , , , spreadKind, busyKind] = Fill.kinds.opens

/** Settlements of so many companies' invoices, in each round as many as the last one did in the time. */
export const operation = (
  subject: Subject.Subject,
  settling: Subject.Settling,
  seconds: number,
  pattern: string,
  companies: number
): Runs.Operation => {
  const kind = companies === 1 ? busyKind : spreadKind
  let first = 0
  let count = fewest
  return {
    what: { operation: Bars.reported, pattern, clients: 1 },
    run: () =>
      Effect.gen(function* () {
        const run = { kind, first, count }
        first += count
        yield* Effect.provideService(Fill.open(kind, run.first, run.count), SqlClient.SqlClient, settling.sql)
        const outcome = yield* reported({ ...settling, port: settling.server.port }, companies, run, (timed) =>
          Runs.costed(subject, [settling.server.pid], timed, () => run.count)
        )
        count = Math.max(fewest, Math.round(outcome.perSecond * seconds))
        return outcome
      })
  }
}
