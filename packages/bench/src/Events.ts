import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Feed from "@satrail/core/events/Feed"
import * as Storage from "@satrail/postgres/Storage"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { once } from "node:events"
import { get } from "node:http"
import * as Bars from "./Bars.ts"
import * as Fill from "./Fill.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Report from "./Report.ts"
import type { Whole } from "./Subject.ts"

const limit = 100
export const page: Report.What = { operation: "events, page of the feed", pattern: `${limit} of one company's`, clients: 1 }

/** The sizes that are compared unless others are given with `--full`. */
export const sizes = [10_000, 1_000_000]

/** As many pages are read in turn, from all over the table. */
const places = 50

/** One event in so many is the busy company's, whose pages are read. */
const share = 10

/** Committed events, all about one invoice. Their numbers are those of transactions long ago. */
const past = `
update satrail.epoch set transactions = transactions - 100000 where id = 1;
create function bench.events(first bigint, n bigint) returns void language sql as $$
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select k, bench.id(0, case k % ${share} when 0 then ${Fill.busy} else 1 + k % ${Fill.spread} end), 'invoice.created', bench.id(${Fill.kinds.opens[1]}, 0), bench.now_millis()
  from generate_series(first, first + n - 1) k
$$;
`

/** Every event of the busy company was told before, as those that have been. */
const told = `
insert into satrail.told_events (id, company_id, tellings)
select e.id, e.company_id, t.tellings from satrail.events e, (select tellings from satrail.told_events limit 1) t
where e.company_id = bench.id(0, ${Fill.busy}) on conflict do nothing;
`

const failed = ({ message }: { readonly message: string }) => new Program.BenchFailed({ message })

/** A database with so many committed events, its feed, and what runs a script there, with a look of the planner afterwards or without. */
const filled = Effect.fnUntraced(function* (postgres: Postgres, rows: number) {
  const url = yield* postgres.database
  const storage = Layer.provideMerge(Feed.layer, Storage.layer({ url: Redacted.make(url), maxConnections: 2 }))
  const feed = Context.get(yield* Effect.mapError(Layer.build(storage), failed), Feed.Feed)
  const client = yield* Layer.build(Fill.client(url)).pipe(Effect.mapError(failed))
  const script = (text: string) => Effect.provideContext(Fill.script(text), client)
  yield* Effect.provideContext(Fill.companies, client)
  yield* script(past)
  yield* Effect.provideContext(Fill.open(Fill.kinds.opens[1], 0, 1), client)
  yield* script(`select bench.events(1, ${rows})`)
  return { feed, script }
})

/** The feed over a table with so many events: how many pages it reads in a second. */
const subject = Effect.fnUntraced(function* (
  postgres: Postgres,
  rows: number
): Effect.fn.Return<(seconds: number) => Effect.Effect<number, Program.BenchFailed>, Program.BenchFailed, Scope.Scope> {
  const { feed, script } = yield* filled(postgres, rows)
  // All but the last page are full.
  const last = rows - (limit + 1) * share
  const read = (at: number) =>
    Effect.flatMap(
      Effect.mapError(
        feed.page(
          {
            companyId: CompanyId.make(Fill.id(Fill.kinds.company, Fill.busy)),
            after: { event: BigInt(Math.floor((last * (at % places)) / places)), part: 0 },
            limit
          },
          () => "x".repeat(800)
        ),
        failed
      ),
      ({ items }) =>
        items.length === limit ? Effect.void : Effect.fail(new Program.BenchFailed({ message: `a page of ${items.length} events` }))
    )
  yield* read(0)
  yield* script(told)
  return (seconds) =>
    Effect.gen(function* () {
      const begun = performance.now()
      let times = 0
      for (; performance.now() - begun < seconds * 1000; times++) yield* read(times)
      return (times * 1000) / (performance.now() - begun)
    })
})

/** What a page of the feed costs, by how many events there are. All sizes are measured one after the other in every round. */
export const growth = (
  postgres: Postgres,
  sizes: ReadonlyArray<number>,
  seconds: number,
  { rounds, tell }: Options
): Effect.Effect<Report.Growth, Program.BenchFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const subjects = yield* Effect.forEach(sizes, (size) => {
        tell(`events: loading ${size.toLocaleString("en")}`)
        return subject(postgres, size)
      })
      const all = Effect.forEach(subjects, (run) => run(seconds))
      yield* all
      const rates: Array<ReadonlyArray<number>> = []
      for (let round = 0; round < rounds; round++) rates.push(yield* all)
      return Report.growth(page, sizes, rates, Bars.feedExponent)
    })
  )

export const idle = "events, idle streams"
const streams = 1000
const settledMillis = 5000

/** An open stream of a company's events, for as long as the scope is open. */
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
        const [response] = await once(request, "response")
        if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`)
        response.resume()
        request.on("error", () => {})
        return request
      },
      catch: (cause) => new Program.BenchFailed({ message: String(cause) })
    }),
    (request) => Effect.sync(() => request.destroy())
  )

/** What a thousand streams to which nothing happens occupy in the whole service. */
export const memory = (whole: Whole): Effect.Effect<ReadonlyArray<Report.Size>, Program.BenchFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { port, pid } = whole.server
      yield* Effect.sleep(settledMillis)
      const before = Program.residentMebibytes(pid)
      for (const key of whole.keys.slice(0, streams)) yield* stream(port, key)
      yield* Effect.sleep(settledMillis)
      const after = Program.residentMebibytes(pid)
      if (before === undefined || after === undefined) return []
      const what = { operation: idle, pattern: `${streams} of as many companies`, unit: "MiB", target: Bars.maxStreamsMebibytes } as const
      return [Report.size({ ...what, first: null }, [after - before])]
    })
  )
