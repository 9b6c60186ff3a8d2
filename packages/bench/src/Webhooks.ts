import { Effect } from "effect"
import * as Bars from "./Bars.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import { percentile } from "./Load.ts"
import type { Group, make } from "./Runs.ts"
import * as Program from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Receivers from "./Receivers.ts"
import * as Report from "./Report.ts"
import * as Requests from "./Requests.ts"
import type { Whole } from "./Subject.ts"

/** One of each of as many companies: one of them is dead, and one takes its time. */
const endpoints = 100
const perSecond = 200
const slowMillis = 10_000
const clients = 32

/** How long after the last commit what is not there yet is waited for. */
const graceMillis = 30_000

/** What a load of this length is about: how late its webhooks may be is seen after seconds only. */
const fewestSeconds = 5

export const latency = "webhooks, commit to receipt"

/**
 * How long after its commit an event arrives at its endpoint, of a hundred companies with one each, where one receiver is dead and one answers after ten
 * seconds: of the other 98.
 */
export const lateness = Effect.fnUntraced(function* (whole: Whole, generator: Generator, seconds: number, { rounds, tell }: Options) {
  const { port } = whole.server
  const receivers = yield* Receivers.start({ count: endpoints - 1, slowMillis })
  const dead = yield* Program.freePort
  const keys = whole.keys.slice(0, endpoints)
  for (const [i, key] of keys.entries()) yield* Receivers.endpoint(port, key, receivers.ports[i] ?? dead)
  const requests = keys.map((key) => Requests.createInvoice(key))
  const millis = Math.max(fewestSeconds, seconds) * 1000
  const once = Effect.gen(function* () {
    yield* receivers.received
    const { sent } = yield* generator(latency, { port, clients, requests, perSecond, warmupMillis: 0, millis })
    let expected = 0
    for (let i = 0; i < sent; i++) if (i % endpoints < endpoints - 2) expected++
    const late: Array<number> = []
    for (const until = performance.now() + graceMillis; late.length < expected;) {
      if (performance.now() > until)
        return yield* new Program.BenchFailed({ message: `${expected - late.length} of ${expected} webhooks did not arrive` })
      late.push(...(yield* receivers.received))
      yield* Effect.sleep(100)
    }
    return Float64Array.from(late).toSorted()
  })
  yield* once
  const all: Array<Float64Array> = []
  for (let round = 1; round <= rounds; round++) {
    all.push(yield* once)
    tell(`${latency}: round ${round} of ${rounds}`)
  }
  const pattern = `${endpoints} endpoints, one dead, one slow, ${perSecond} events a second`
  return (
    [
      [0.5, null],
      [0.99, Bars.maxLateMillis],
      [1, null]
    ] as const
  ).map(([part, target]) =>
    Report.size(
      { operation: `${latency}, p${part * 100}`, pattern, unit: "ms", target, first: null },
      all.map((late) => percentile(late, part))
    )
  )
})

export const backlog = "webhooks, a backlog"
const waiting = 1_000_000

/** As many as one transaction can number. */
const inOne = 4000

/** For how long there may be no news of them. */
const silentMillis = 120_000

/** So many records of a company the events are about: what is about one record goes out in turn. */
const records = 10

/** Events that were committed while nobody could be told, about the newest invoices of each of the companies. */
const events = (first: number) => `
insert into satrail.events (id, company_id, type, subject, at_millis)
select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + n, i.company_id, 'invoice.created', i.id,
  bench.now_millis()
from generate_series(0, ${inOne - 1}) n
join (
  select company_id, id, dense_rank() over (order by company_id) - 1 as company, row_number() over (partition by company_id order by id desc) - 1 as record
  from satrail.invoices
) i on i.company = (${first} + n) % ${endpoints} and i.record = (${first} + n) / ${endpoints} % ${records}
`

/** How long a million events take to a hundred endpoints, of which one is dead: until the other 99 have all of theirs. */
export const drained = Effect.fnUntraced(function* ({ server, keys, databaseUrl }: Whole, generator: Generator, { tell }: Options) {
  const receivers = yield* Receivers.start({ count: endpoints - 1, slowMillis: 0 })
  const dead = yield* Program.freePort
  const asked = keys.slice(0, endpoints)
  const requests = asked.map((key) => Requests.createInvoice(key))
  yield* generator(backlog, { port: server.port, clients: 1, requests, perSecond: endpoints, warmupMillis: 0, millis: 2000 * records })
  for (const [i, key] of asked.entries()) yield* Receivers.endpoint(server.port, key, receivers.ports[i] ?? dead)
  for (let first = 0; first < waiting; first += inOne) {
    yield* Effect.provide(Fill.statements(events(first)), Fill.client(databaseUrl)).pipe(
      Effect.mapError(({ message }) => new Program.BenchFailed({ message }))
    )
  }
  tell(`${backlog}: ${waiting.toLocaleString("en")} events are there`)
  const began = performance.now()
  const expected = (waiting / endpoints) * (endpoints - 1)
  let received = 0
  for (let newsAt = began, toldAt = began; received < expected;) {
    yield* Effect.sleep(1000)
    const more = (yield* receivers.received).length
    received += more
    const now = performance.now()
    if (more > 0) newsAt = now
    if (now - newsAt > silentMillis)
      return yield* new Program.BenchFailed({ message: `${expected - received} of ${expected} did not arrive` })
    if (now - toldAt > 30_000) {
      tell(`${backlog}: ${received.toLocaleString("en")} of ${expected.toLocaleString("en")} arrived`)
      toldAt = now
    }
  }
  const pattern = `${waiting.toLocaleString("en")} events about ${endpoints * records} records, ${endpoints} endpoints, one dead`
  const millis = performance.now() - began
  const most = Program.peakMebibytes(server.pid)
  return [
    Report.size({ operation: backlog, pattern, unit: "ms", target: null, first: null }, [millis]),
    ...(most === undefined
      ? []
      : [Report.size({ operation: `${backlog}, memory`, pattern, unit: "MiB", target: null, first: null }, [most])])
  ]
})

/** A service that sends webhooks, and those that ten endpoints are at. */
export interface Sending extends Whole {
  readonly receivers: Receivers.Receivers
}

export const heardBy = 10

/**
 * What webhooks cost a confirm: where the process sends them and there is no endpoint, beside `ofAnother`, which sends none, and where ten hear of each.
 */
export const groups = (
  http: ReturnType<typeof make>["http"],
  ofAnother: Requests.Requests,
  { server, receivers, keys }: Sending
): ReadonlyArray<Group> => {
  const key = keys[Fill.busy - 1] ?? ""
  const { confirm } = Requests.make(keys)
  const silent = http(Bars.nobodyListens, "one company", 64, confirm, server)
  const heard = http(Bars.tenListen, "one company", 64, confirm, server)
  const without = http("confirm, no webhooks", "one company", 64, ofAnother.confirm)
  const all = Effect.forEach(receivers.ports, (receiver) => Receivers.endpoint(server.port, key, receiver))
  const gone = Effect.forEach((id: string) => Receivers.remove(server.port, key, id))
  return [
    { limit: without.what.operation, run: without.run, operations: [silent] },
    {
      limit: Bars.nobodyListens,
      run: silent.run,
      // What has not been sent by the end of a run would be sent during the next one.
      operations: [
        {
          ...heard,
          run: (rate) =>
            Effect.acquireUseRelease(
              all,
              () => heard.run(rate),
              (ids) => Effect.orDie(gone(ids))
            )
        }
      ]
    }
  ]
}
