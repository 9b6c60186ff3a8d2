import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Search from "@satrail/core/reports/Search"
import { Records } from "@satrail/core/service/Records"
import * as RecordsSql from "@satrail/postgres/Records"
import { Effect, Schedule, Schema, type Scope } from "effect"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import path from "node:path"
import * as Client from "./Client.ts"
import * as Fill from "./Fill.ts"
import { percentile } from "./Load.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Receivers from "./Receivers.ts"
import type { Size } from "./Report.ts"
import * as Requests from "./Requests.ts"
import * as Service from "./Service.ts"
import type { Bench, Subject } from "./Subject.ts"

// Measurements of times, memory and counts.

type Sizes = Effect.Effect<ReadonlyArray<Size>, Program.BenchFailed>

const fail = (message: string) => new Program.BenchFailed({ message })

const percentiles = (
  what: string,
  unit: string,
  parts: ReadonlyArray<readonly [part: number, target?: number]>,
  rounds: ReadonlyArray<ReadonlyArray<number>>
) =>
  parts.map(([part, target]) => ({
    what: `${what} p${part * 100}, ${unit}`,
    values: rounds.map((values) => percentile(Float64Array.from(values).toSorted(), part)),
    ...(target !== undefined && { target })
  }))

const idleMillis = 5000

/**
 * Starts the shipped service with an empty database, and then repeatedly with the database that the first start
 * created.
 */
export const starts = Effect.fnUntraced(function* (
  postgres: Postgres | undefined,
  { directory, nodeArgs, rounds, tell }: Bench
): Effect.fn.Return<ReadonlyArray<Size>, Program.BenchFailed, Scope.Scope> {
  const stores = [
    ...(postgres === undefined
      ? []
      : [{ store: "PostgreSQL", databaseUrl: yield* postgres.database, startTarget: 1500, memoryTarget: 150 }]),
    { store: "embedded", databaseUrl: undefined, startTarget: 3000, memoryTarget: 500 }
  ]
  const once = (store: string, databaseUrl: string | undefined, idles: boolean) =>
    Effect.scoped(
      Effect.gen(function* () {
        const service = yield* Service.start({ directory: path.join(directory, store), databaseUrl, nodeArgs })
        if (idles) yield* Effect.sleep(idleMillis)
        return { ...service, mebibytes: Program.mebibytes(service.pid, "VmRSS") ?? NaN }
      })
    )
  return (yield* Effect.forEach(stores, ({ store, databaseUrl, startTarget, memoryTarget }) =>
    Effect.gen(function* () {
      const first = yield* once(store, databaseUrl, false)
      const again: Array<typeof first> = []
      for (let round = 1; round <= rounds; round++) {
        again.push(yield* once(store, databaseUrl, true))
        tell(`start, ${store}: round ${round} of ${rounds}`)
      }
      const sizes: ReadonlyArray<Size> = [
        {
          what: `start to \`/healthz\`, ${store}, ms`,
          values: again.map((one) => one.healthzMillis),
          target: startTarget,
          first: first.healthzMillis
        },
        {
          what: `start to \`/readyz\`, ${store}, ms`,
          values: again.map((one) => one.readyzMillis),
          target: startTarget,
          first: first.readyzMillis
        },
        { what: `idle memory, ${store}, MiB`, values: again.map((one) => one.mebibytes), target: memoryTarget }
      ]
      return sizes
    })
  )).flat()
})

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

/**
 * Measures the delay of webhooks from commit to receipt, with one endpoint for each of 100 companies. One
 * endpoint is dead and one is slow, so only the others are measured.
 */
export const webhookDelay = ({ server, keys, generator, seconds }: Subject, { rounds, tell }: Bench): Sizes =>
  Effect.scoped(
    Effect.gen(function* () {
      const receivers = yield* Receivers.start(endpoints - 1, slowMillis)
      const dead = yield* Program.freePort
      const heard = keys.slice(0, endpoints)
      for (const [at, key] of heard.entries()) yield* Receivers.endpoint(Client.make(server.port, key), receivers.ports[at] ?? dead)
      const load = {
        port: server.port,
        clients: 32,
        requests: heard.map(Requests.createInvoice),
        perSecond: eventsPerSecond,
        warmupMillis: 0
      }
      const all: Array<ReadonlyArray<number>> = []
      // The first round is not counted.
      for (let round = 0; round <= rounds; round++) {
        receivers.received()
        const { sent } = yield* generator({ ...load, millis: Math.max(5, seconds) * 1000 })
        const expected = Array.from({ length: sent }, (_, at) => at % endpoints).filter((at) => at < endpoints - 2).length
        const late: Array<number> = []
        for (const until = performance.now() + webhookGraceMillis; late.length < expected; yield* Effect.sleep(100)) {
          if (performance.now() > until) return yield* fail(`${expected - late.length} of ${expected} webhooks did not arrive`)
          late.push(...receivers.received())
        }
        if (round > 0) all.push(late)
        tell(`webhook delay: round ${round} of ${rounds}`)
      }
      return percentiles("webhook delay", "ms", [[0.5], [0.99, 1000], [1]], all)
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
    const before = yield* sql(Fill.statementsHere)
    yield* Effect.sleep(60_000)
    // Reading the count is itself a statement.
    const values = [(yield* sql(Fill.statementsHere)) - before - 1]
    return [{ what: "statements per idle minute", values, target: 120 }]
  })

/** Opens a stream of a company's events. */
const stream = (port: number, key: string) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const request = get({
          port,
          host: "127.0.0.1",
          path: "/v1/events/stream",
          agent: false,
          headers: { authorization: `Bearer ${key}` }
        })
        const [response]: ReadonlyArray<IncomingMessage> = await once(request, "response")
        if (response?.statusCode !== 200) throw new Error(`a stream returned ${response?.statusCode}`)
        request.on("error", () => {})
        return { request, response }
      },
      catch: (cause) => fail(String(cause))
    }),
    ({ request }) => Effect.sync(() => request.destroy())
  )

const commits = 100

/** Measures the delay from commit to arrival on an open event stream while the service is otherwise idle. */
export const streamDelay = ({ server, keys: [key = ""] }: Subject): Sizes =>
  Effect.scoped(
    Effect.gen(function* () {
      const millis: Array<number> = []
      const { response } = yield* stream(server.port, key)
      response.setEncoding("utf8").on("data", (text: string) => {
        for (const [, at = ""] of text.matchAll(/"timestamp":"([^"]+)"/g)) millis.push(Date.now() - Date.parse(at))
      })
      const create = Client.make(server.port, key)("POST", Requests.invoices, Schema.Unknown, { amount: 1000, currency: "sats" })
      yield* Effect.repeat(create, { schedule: Schedule.spaced(100), times: commits - 1 })
      yield* Client.until(
        1,
        Effect.sync(() => commits - millis.length)
      ).pipe(Effect.timeoutOrElse({ duration: settledMillis, orElse: () => Effect.fail(fail("events did not arrive at the stream")) }))
      return percentiles("event stream delay, idle", "ms", [[0.5], [0.99]], [millis])
    })
  )

const streams = 1000

/** Measures the memory that the service uses for idle streams of different companies. */
export const streamMemory = ({ server, keys }: Subject): Sizes =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.sleep(idleMillis)
      const before = Program.mebibytes(server.pid, "VmRSS") ?? NaN
      for (const key of keys.slice(0, streams)) (yield* stream(server.port, key)).response.resume()
      yield* Effect.sleep(idleMillis)
      const after = Program.mebibytes(server.pid, "VmRSS") ?? NaN
      return [{ what: `${streams} idle event streams, MiB`, values: [after - before], target: 100 }]
    })
  )

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
      const texts = ["no such text", "one of many", Fill.id(Fill.kinds.history, Fill.busy - 1), "2", "ab".repeat(32)]
      const sought = texts.flatMap((text) => Search.sought(text) ?? [])
      const millis: Array<number> = []
      for (let at = -sought.length; at < searches; at++) {
        const [started, one] = [performance.now(), sought.at(at % sought.length)]
        if (one !== undefined) yield* records.found(companyId, one)
        if (at >= 0) millis.push(performance.now() - started)
      }
      return percentiles(`search among ${rows.toLocaleString("en")} rows`, "ms", [[0.5], [0.99, 50]], [millis])
    }).pipe(Effect.scoped)
  )
