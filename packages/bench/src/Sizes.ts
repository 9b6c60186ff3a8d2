import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Search from "@satrail/core/reports/Search"
import { Records } from "@satrail/core/service/Records"
import * as RecordsSql from "@satrail/service/postgres/Records"
import { freePort } from "@satrail/testing/freePort"
import { Effect, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import path from "node:path"
import { text } from "node:stream/consumers"
import * as Alone from "./Alone.ts"
import * as Fill from "./Fill.ts"
import { percentile } from "./Load.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import type { Size } from "./Report.ts"
import * as Requests from "./Requests.ts"
import * as Service from "./Service.ts"
import type { Bench, Subject } from "./Subject.ts"

// Measurements of times, memory and counts.

type Sizes = Effect.Effect<ReadonlyArray<Size>, Program.BenchFailed>

const percentiles = (
  what: string,
  parts: ReadonlyArray<readonly [part: number, target?: number]>,
  rounds: ReadonlyArray<ReadonlyArray<number>>
): ReadonlyArray<Size> =>
  parts.map(([part, target]) => ({
    what: `${what} p${part * 100}, ms`,
    values: rounds.map((values) => percentile(Float64Array.from(values).toSorted(), part)),
    ...(target !== undefined && { target })
  }))

const idleMillis = 5000

/** Starts the shipped service repeatedly with a database that an earlier start created. */
export const starts = Effect.fnUntraced(function* (
  postgres: Postgres | undefined,
  { directory, nodeArgs, rounds, tell }: Bench
): Effect.fn.Return<ReadonlyArray<Size>, Program.BenchFailed, Scope.Scope> {
  const embedded = { store: "embedded", databaseUrl: undefined, startTarget: 3000, memoryTarget: 500 }
  const stores =
    postgres === undefined
      ? [embedded]
      : [
          {
            store: "PostgreSQL",
            databaseUrl: yield* postgres.database,
            startTarget: 1500,
            memoryTarget: 150
          },
          embedded
        ]
  const sizes: Array<Size> = []
  for (const { store, databaseUrl, startTarget, memoryTarget } of stores) {
    const start = Service.start({ directory: path.join(directory, store), databaseUrl, nodeArgs })
    yield* Effect.scoped(start)
    const [millis, mebibytes] = [new Array<number>(), new Array<number>()]
    for (let round = 1; round <= rounds; round++) {
      const idle = Effect.tap(start, () => Effect.sleep(idleMillis))
      const [readyzMillis, idleMebibytes] = yield* Effect.scoped(
        Effect.map(
          idle,
          ({ pid, readyzMillis }) => [readyzMillis, Program.mebibytes(pid, "VmRSS") ?? NaN] as const
        )
      )
      millis.push(readyzMillis)
      mebibytes.push(idleMebibytes)
      tell(`start, ${store}: round ${round} of ${rounds}`)
    }
    sizes.push({ what: `start to \`/readyz\`, ${store}, ms`, values: millis, target: startTarget })
    sizes.push({ what: `idle memory, ${store}, MiB`, values: mebibytes, target: memoryTarget })
  }
  return sizes
})

/** Measures how long the command line takes to print its help. */
export const help = ({ nodeArgs, rounds }: Bench): Size => {
  const args = [...nodeArgs, "--conditions=compiled", ...Program.heap, Service.bundled("cli.mjs"), "--help"]
  const values = Array.from({ length: rounds }, () => {
    const began = performance.now()
    execFileSync(process.execPath, args, { stdio: "pipe" })
    return performance.now() - began
  })
  return { what: "`satrail --help`, ms", values, target: 300 }
}

/** Counts the statements of payments that come one at a time. */
export const alone: Effect.Effect<ReadonlyArray<Size>, Program.BenchFailed> = Effect.map(
  Program.failed(Alone.statements),
  ({ confirm, createInvoice, lnurlInvoice }) => [
    { what: "statements alone, confirm until settled", values: [confirm], target: Alone.most.confirm },
    { what: "statements alone, create invoice", values: [createInvoice], target: Alone.most.createInvoice },
    { what: "statements alone, LNURL invoice", values: [lnurlInvoice], target: Alone.most.lnurlInvoice }
  ]
)

/** Returns the peak memory of a process so far. */
export const peak = (what: string, pid: number): Size => ({
  what: `peak memory, ${what}, MiB`,
  values: [Program.mebibytes(pid, "VmHWM") ?? NaN],
  target: 350
})

const endpoints = 100
const eventsPerSecond = 200
const slowMillis = 10_000
const webhookGraceMillis = 30_000

/** Starts a receiver of webhooks, and returns its port. `received` is called with the delay of each event. */
const receiver = (answerMillis: number, received: (lateMillis: number) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async (request, response) => {
        const body = await text(request)
        received(Date.now() - Date.parse(String(JSON.parse(body).timestamp)))
        setTimeout(() => response.writeHead(204).end(), answerMillis).unref()
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(Effect.map(Program.portOf))

/**
 * Measures the delay of webhooks from commit to receipt, with one endpoint for each of 100 companies. One
 * endpoint is dead and one is slow, so only the others are measured.
 */
export const webhookDelay = ({ server, keys, generator, seconds }: Subject, { rounds, tell }: Bench): Sizes =>
  Effect.scoped(
    Effect.gen(function* () {
      let late: Array<number> = []
      const fast = Array.from({ length: endpoints - 2 }, () => receiver(0, (millis) => late.push(millis)))
      const ports = [
        ...(yield* Effect.all(fast)),
        yield* receiver(slowMillis, () => {}),
        yield* Effect.promise(freePort)
      ]
      for (const [at, port] of ports.entries()) {
        const body = JSON.stringify({ url: `http://127.0.0.1:${port}/` })
        const headers = { authorization: `Bearer ${keys[at]}`, "content-type": "application/json" }
        const created = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${server.port}/v1/webhook-endpoints`, { method: "POST", headers, body })
        )
        if (!created.ok)
          return yield* new Program.BenchFailed({ message: `an endpoint was not created: ${created.status}` })
      }
      const requests = keys.slice(0, endpoints).map(Requests.createInvoice)
      const load = { port: server.port, clients: 32, requests, perSecond: eventsPerSecond, warmupMillis: 0 }
      const all: Array<ReadonlyArray<number>> = []
      // The first round is not counted.
      for (let round = 0; round <= rounds; round++) {
        late = []
        const { sent } = yield* generator({ ...load, millis: Math.max(5, seconds) * 1000 })
        const expected = Array.from({ length: sent }, (_, at) => at % endpoints).filter(
          (at) => at < fast.length
        ).length
        for (
          const until = performance.now() + webhookGraceMillis;
          late.length < expected;
          yield* Effect.sleep(100)
        )
          if (performance.now() > until)
            return yield* new Program.BenchFailed({
              message: `${expected - late.length} of ${expected} webhooks did not arrive`
            })
        if (round > 0) all.push(late)
        tell(`webhook delay: round ${round} of ${rounds}`)
      }
      return percentiles("webhook delay", [[0.5], [0.99, 1000], [1]], all)
    })
  )

const settledMillis = 15_000

/**
 * Counts the statements that an idle service sends to its database. Returns no row if PostgreSQL does not count
 * statements.
 */
export const idleStatements = ({ sql }: Subject): Sizes =>
  Effect.gen(function* () {
    if (!(yield* sql(Fill.countStatements))) return []
    yield* Effect.sleep(settledMillis)
    const before = yield* sql(Fill.statements)
    yield* Effect.sleep(60_000)
    // Reading the count is itself a statement.
    const values = [(yield* sql(Fill.statements)) - before - 1]
    return [{ what: "statements per idle minute", values, target: 120 }]
  })

const searches = 500

/**
 * Measures searches of the busy company's records by description, id, amount and hash, in turn. The first text
 * does not occur in any description.
 */
export const search = ({ sql }: Subject, rows: number): Sizes =>
  sql(
    Effect.gen(function* () {
      const records = yield* Effect.provideContext(Records, yield* RecordsSql.make)
      const companyId = CompanyId.make(Fill.id(Fill.kinds.company, Fill.busy))
      const texts = [
        "no such text",
        "one of many",
        Fill.id(Fill.kinds.history, Fill.busy - 1),
        "2",
        "ab".repeat(32)
      ]
      const sought = texts.flatMap((text) => Search.sought(text) ?? [])
      const millis: Array<number> = []
      for (let at = -sought.length; at < searches; at++) {
        const [started, one] = [performance.now(), sought.at(at % sought.length)]
        if (one !== undefined) yield* records.found(companyId, one)
        if (at >= 0) millis.push(performance.now() - started)
      }
      return percentiles(`search among ${rows.toLocaleString("en")} rows`, [[0.5], [0.99, 50]], [millis])
    }).pipe(Effect.scoped)
  )
