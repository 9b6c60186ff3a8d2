import { Effect } from "effect"
import * as Client from "./Client.ts"
import * as Fill from "./Fill.ts"
import { BenchFailed } from "./Program.ts"
import type { Rate, Run } from "./Rounds.ts"
import * as Runs from "./Runs.ts"
import type * as SigningNode from "./SigningNode.ts"
import type { Subject } from "./Subject.ts"

/** A service, and a function that makes its node report payments. */
export interface Reported {
  readonly port: number
  readonly keys: ReadonlyArray<string>
  readonly report: (run: SigningNode.Run) => Effect.Effect<void>
}

/**
 * Makes the node report settlements of 1 sat and waits until the last one is in its company's balance. This
 * effect is passed to `measured`. Fails unless every settlement has been credited by then.
 */
export const reported = Effect.fnUntraced(function* <A extends Rate>(
  { keys, port, report }: Reported,
  companies: number,
  run: SigningNode.Run,
  measured: (timed: Effect.Effect<Rate, BenchFailed>) => Effect.Effect<A, BenchFailed>
) {
  const balance = (company: number) => Effect.map(Client.balance(Client.make(port, keys[company - 1] ?? "")), ({ balance }) => balance)
  const owners = Array.from({ length: run.count }, (_, at) => Fill.companyOf(companies, run.first + at))
  const sum = Effect.map(Effect.forEach([...new Set(owners)], balance, { concurrency: 16 }), (all) =>
    all.reduce((sats, more) => sats + more, 0)
  )
  const last = owners.at(-1) ?? Fill.busy
  const due = owners.filter((owner) => owner === last).length
  const [before, lastBefore] = [yield* sum, yield* balance(last)]
  const timed = Effect.gen(function* () {
    const began = performance.now()
    yield* report(run)
    yield* Client.until(
      due,
      Effect.map(balance(last), (now) => lastBefore + due - now),
      20
    )
    return { perSecond: (run.count * 1000) / (performance.now() - began) }
  })
  const outcome = yield* measured(timed)
  const credited = (yield* sum) - before
  if (credited !== run.count)
    return yield* new BenchFailed({ message: `${run.count} settlements were reported, and the balances grew by ${credited} sats` })
  return outcome
})

/** The number of invoices in the first run, when the rate is not yet known. */
const fewest = 500

/**
 * Settles invoices of a kind. Their number is chosen from the rate of the last run so that the run takes the
 * given time.
 */
export const run = (settling: Effect.Effect<Subject, BenchFailed>, companies: number, kind: number): Run => {
  let first = 0
  let count = fewest
  return Effect.fnUntraced(function* () {
    const subject = yield* settling
    const { server, keys, seconds } = subject
    const invoices = { kind, first, count }
    first += count
    yield* subject.sql(Fill.open(kind, invoices.first, invoices.count))
    const report = (run: SigningNode.Run) => Effect.sync(() => void server.program?.child.send(run))
    const outcome = yield* reported({ port: server.port, keys, report }, companies, invoices, (timed) =>
      Runs.costed(subject, [server.pid], timed, () => invoices.count)
    )
    count = Math.max(fewest, Math.round(outcome.perSecond * seconds))
    return outcome
  })
}
