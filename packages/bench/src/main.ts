import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Against from "./Against.ts"
import * as Bars from "./Bars.ts"
import * as Blocks from "./Blocks.ts"
import * as Chart from "./Chart.ts"
import * as Controls from "./Controls.ts"
import * as Events from "./Events.ts"
import * as Fill from "./Fill.ts"
import * as Generator from "./Generator.ts"
import * as Growth from "./Growth.ts"
import * as Idle from "./Idle.ts"
import * as Nodes from "./Nodes.ts"
import * as Operations from "./Operations.ts"
import * as Peers from "./Peers.ts"
import * as Pgbench from "./Pgbench.ts"
import * as Postgres from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Rates from "./Rates.ts"
import * as Receivers from "./Receivers.ts"
import * as Report from "./Report.ts"
import * as Starts from "./Starts.ts"
import * as Subject from "./Subject.ts"
import * as Tables from "./Tables.ts"
import * as Webhooks from "./Webhooks.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-bench-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** The rows of the past that every rate is measured upon. */
const baseRows = 100_000

const tell = (line: string) => process.stderr.write(`${line}\n`)

/** Everything that is measured at one filled database, and at others beside it that some operations have to themselves. */
const underLoad = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  pgbench: string,
  options: Omit<Subject.Options, "rows"> & {
    readonly generator: Generator.Generator
    readonly raw: { readonly server: Subject.Server; readonly framework: Subject.Server }
    readonly seconds: number
    readonly asked: Rates.Options
  }
) {
  const { generator, raw, seconds, asked, directory, profileDirectory } = options
  const { wanted } = asked
  const subject = yield* Subject.make(postgres, pgbench, { ...options, rows: baseRows })
  const wholes = [Bars.carriedOut, Bars.untilSettled, Webhooks.latency, Events.idle, Idle.statements, Idle.pickUp]
  const whole = wholes.some(wanted) ? yield* Subject.whole(postgres, directory, profileDirectory) : undefined
  const sending =
    wanted(Bars.nobodyListens) || wanted(Bars.tenListen)
      ? {
          ...(yield* Subject.sending(postgres, { ...options, rows: baseRows })),
          receivers: yield* Receivers.start({ count: Webhooks.heardBy, slowMillis: 0 })
        }
      : undefined
  const untraced = wanted(Bars.untraced) || wanted(Bars.untracedRead) ? yield* Controls.withoutTracing(subject) : undefined
  const settling = wanted(Bars.reported) ? yield* Subject.settling(postgres, { ...options, rows: baseRows }) : undefined
  const found = yield* Rates.measure(Operations.make(subject, generator, raw, whole, seconds, sending, untraced, settling), asked)
  const flooded = wanted(Controls.flood) ? [yield* Controls.flooded(subject, generator, seconds, asked)] : []
  const pids = {
    api: subject.api.pid,
    "the Journal alone": subject.journal.pid,
    ...(whole && { "the whole service": whole.server.pid })
  }
  const memory = Object.entries(pids).flatMap(([pattern, pid]) => {
    const most = Program.peakMebibytes(pid)
    const what = { operation: "memory at most, loaded", pattern, unit: "MiB", target: Bars.maxLoadedMebibytes, first: null } as const
    return most === undefined ? [] : [Report.size(what, [most])]
  })
  const late = whole !== undefined && wanted(Webhooks.latency) ? yield* Webhooks.lateness(whole, generator, seconds, asked) : []
  const quiet = whole !== undefined && wanted(Idle.statements) ? yield* Idle.measured(whole, asked) : []
  const heard = whole !== undefined && wanted(Idle.pickUp) ? yield* Idle.late(whole, asked) : []
  const streams = whole !== undefined && wanted(Events.idle) ? yield* Events.memory(whole) : []
  return { found: { ...found, halves: [...found.halves, ...flooded] }, memory: [...memory, ...late, ...quiet, ...heard, ...streams] }
})

/** How the costs of all operations grow with the rows there are. */
const byRows = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  pgbench: string,
  options: Parameters<typeof underLoad>[2] & { readonly sizes: ReadonlyArray<number> }
) {
  const { generator, raw, seconds, asked, sizes, ...made } = options
  const subjects = yield* Effect.forEach(sizes, (rows) =>
    Effect.map(Subject.make(postgres, pgbench, { ...made, directory: path.join(made.directory, String(rows)), rows }), (subject) => ({
      rows,
      groups: Operations.make(subject, generator, raw, undefined, seconds)
    }))
  )
  return yield* Growth.measure(subjects, asked)
})

const run = Effect.fnUntraced(function* (options: {
  readonly rounds: number
  readonly seconds: number
  readonly only: Option.Option<string>
  readonly full: boolean
  readonly sizes: ReadonlyArray<number>
  readonly out: Option.Option<string>
  readonly profile: Option.Option<string>
  readonly peers: Option.Option<string>
}) {
  const { rounds, seconds, full } = options
  const only = Option.getOrUndefined(options.only)?.toLowerCase()
  const wanted = (operation: string) => only === undefined || operation.toLowerCase().includes(only)
  const profileDirectory = Option.getOrUndefined(Option.map(options.profile, (directory) => path.resolve(directory)))
  const asked = { rounds, wanted, tell }

  const directory = yield* temporary
  const postgres = yield* Postgres.make
  const pgbench = "missing" in postgres ? undefined : Pgbench.find(postgres.folder)
  const machine = Report.machine("missing" in postgres ? "none" : postgres.version)
  yield* Console.log(
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}, Node ${machine.node}, PostgreSQL ${machine.postgres}`
  )
  if ("missing" in postgres) yield* Console.log(`Starts of the embedded database only: ${postgres.missing}`)
  else if (pgbench === undefined) yield* Console.log("Starts only: pgbench, which comes with PostgreSQL, was not found")

  const generator = yield* Generator.start
  const selfCheck = wanted("self-check") ? yield* Generator.selfCheck(generator) : undefined
  if (selfCheck !== undefined) {
    const { openMillis, closedMillis } = selfCheck
    yield* Console.log(
      `The generator, at a server that stalls for 300 ms: p99 ${openMillis.toFixed(0)} ms in an open loop, ${closedMillis.toFixed(1)} ms in a closed one`
    )
  }
  const starts =
    wanted("start") || wanted("memory after")
      ? yield* Effect.flatMap(Starts.stores(postgres, directory, profileDirectory), (stores) => Starts.measure(stores, rounds, tell))
      : []

  let rates: Rates.Rates = { rows: [], costs: [], halves: [], latencies: [] }
  let loaded: ReadonlyArray<Report.Size> = []
  let growth: ReadonlyArray<Report.Growth> = []
  if (!("missing" in postgres) && pgbench !== undefined) {
    const raw = {
      server: yield* Program.server("rawProgram"),
      framework: yield* Program.server("frameworkProgram", { nodeArgs: Subject.profiled(profileDirectory) })
    }
    const made = { directory, profileDirectory, tell }
    const names = new Set(
      Bars.bars
        .map(({ operation }) => operation)
        .concat(Bars.carriedOut, Bars.reported, Bars.framework, Webhooks.latency, Events.idle, Idle.statements, Idle.pickUp, Controls.flood)
    )
    if ([...names].some(wanted)) {
      const { found, memory } = yield* Effect.scoped(underLoad(postgres, pgbench, { ...made, generator, raw, seconds, asked }))
      rates = found
      loaded = memory
    }
    if ((full || only !== undefined) && Nodes.operations.some(wanted)) {
      const onNodes = yield* Effect.scoped(Nodes.measure(postgres, directory, profileDirectory, asked))
      rates = { ...rates, rows: [...rates.rows, ...onNodes] }
    }
    if (Option.isSome(options.peers) && Peers.operations.some(wanted)) {
      const beside = { directory, profileDirectory, seconds }
      const measured = Peers.measure(path.resolve(options.peers.value), postgres, generator, beside, asked)
      rates = { ...rates, rows: [...rates.rows, ...(yield* Effect.scoped(measured))] }
    }
    if ((full || only !== undefined) && wanted(Blocks.what.operation)) growth = [yield* Blocks.growth(postgres, seconds, asked)]
    if ((full || only !== undefined) && wanted(Webhooks.backlog))
      loaded = [
        ...loaded,
        ...(yield* Effect.scoped(
          Effect.flatMap(Subject.whole(postgres, directory, profileDirectory), (whole) => Webhooks.drained(whole, generator, asked))
        ))
      ]
    if ((full || only !== undefined) && wanted(Events.page.operation))
      growth = [...growth, yield* Events.growth(postgres, full ? options.sizes : Events.sizes, seconds, asked)]
    if (full && Bars.bars.some(({ operation }) => wanted(operation))) {
      yield* Console.log(
        `Loading ${options.sizes.map((rows) => rows.toLocaleString("en")).join(", ")} rows: this takes about ${Growth.gibibytes(options.sizes)} GiB of disk while it runs.`
      )
      const loading = { ...made, generator, raw, seconds, asked, sizes: options.sizes }
      const ofRows = yield* Effect.scoped(byRows(postgres, pgbench, loading))
      growth = [...growth, ...ofRows]
    }
  }

  const { rows, halves, latencies, costs } = rates
  const sizes = [...starts, ...loaded]
  const tables = Tables.make({ rows, halves, costs, growth, sizes })
  if (tables.length === 0 && selfCheck === undefined) yield* Console.log(`Nothing here has ${only} in its name.`)
  for (const table of tables) yield* Console.log(`\n${Tables.text(table)}`)
  if (Option.isSome(options.out)) {
    const out = options.out.value
    mkdirSync(out, { recursive: true })
    const findings = { machine, self_check: selfCheck ?? null, bars: Bars.bars, rows, half_load: halves, latencies, costs, growth, sizes }
    writeFileSync(path.join(out, "bench.json"), `${JSON.stringify(findings, null, 2)}\n`)
    writeFileSync(path.join(out, "bench.md"), `${tables.map(Tables.markdown).join("\n\n")}\n`)
    if (latencies.length > 0) writeFileSync(path.join(out, "latency.svg"), Chart.svg("Latency against load", Report.series(latencies)))
    yield* Console.log(`\nWritten to ${out}`)
  }
}, Effect.scoped)

/** Nothing but the rates of this build beside those of another one. */
const runAgainst = Effect.fnUntraced(function* (
  build: string,
  { rounds, seconds, ...options }: { readonly rounds: number; readonly seconds: number } & Record<"only" | "profile", Option.Option<string>>
) {
  const only = Option.getOrElse(options.only, () => "").toLowerCase()
  const asked = { rounds, wanted: (operation: string) => operation.toLowerCase().includes(only), tell }
  const profileDirectory = Option.getOrUndefined(Option.map(options.profile, (directory) => path.resolve(directory)))
  const directory = yield* temporary
  const postgres = yield* Postgres.make
  const pgbench = "missing" in postgres ? undefined : Pgbench.find(postgres.folder)
  if ("missing" in postgres || pgbench === undefined) return yield* new Program.BenchFailed({ message: "--against needs PostgreSQL" })
  const generator = yield* Generator.start
  const subject = yield* Subject.make(postgres, pgbench, { directory, profileDirectory, tell, rows: baseRows })
  const other = yield* Against.start(subject, path.resolve(build))
  const rates = yield* Rates.measure(Against.groups(subject, generator, seconds, other), asked)
  for (const table of Tables.make({ ...rates, growth: [], sizes: [] })) yield* Console.log(`\n${Tables.text(table)}`)
}, Effect.scoped)

const positive = (flag: Flag.Flag<number>) =>
  Flag.mapTryCatch(
    flag,
    (value) => {
      if (value < 1) throw new Error()
      return value
    },
    () => "at least 1"
  )

const bench = Command.make(
  "bench",
  {
    rounds: positive(Flag.Int("rounds")).pipe(
      Flag.withDescription("How often everything is measured; the table shows medians (5)"),
      Flag.withDefault(5)
    ),
    seconds: positive(Flag.Int("seconds")).pipe(
      Flag.withDescription("How long one operation is measured in each round (2)"),
      Flag.withDefault(2)
    ),
    full: Flag.Boolean("full").pipe(
      Flag.withDefault(false),
      Flag.withDescription("How costs grow with the rows there are, too: it loads millions of them, which takes many minutes and gigabytes")
    ),
    sizes: Flag.String("sizes").pipe(
      Flag.withDescription("The numbers of rows that --full compares (10000,1000000,10000000)"),
      Flag.withDefault("10000,1000000,10000000"),
      Flag.mapTryCatch(
        (text) =>
          text.split(",").map((size) => {
            if (!/^\d{1,9}$/.test(size) || Number(size) < Fill.fewestRows) throw new Error()
            return Number(size)
          }),
        () => `whole numbers of at least ${Fill.fewestRows}, separated by commas`
      )
    ),
    only: Flag.String("only").pipe(
      Flag.withDescription("Only the operations with this in their name, such as balance or start"),
      Flag.optional
    ),
    out: Flag.String("out").pipe(
      Flag.withDescription("A directory that bench.json, bench.md and latency.svg are written to"),
      Flag.optional
    ),
    profile: Flag.String("profile").pipe(
      Flag.withDescription("A directory for CPU profiles of the service, one each time it ran"),
      Flag.optional
    ),
    against: Flag.String("against").pipe(
      Flag.withDescription("Another checkout, built: nothing but its rates over HTTP beside this one's, in turns over one database"),
      Flag.optional
    ),
    peers: Flag.String("peers").pipe(
      Flag.withDescription("A directory in which LNbits is installed, to be measured beside the service (docs/performance.md says how)"),
      Flag.optional
    )
  },
  ({ against, ...options }) => Option.match(against, { onNone: () => run(options), onSome: (build) => runAgainst(build, options) })
).pipe(Command.withDescription("Measures the service on this machine"))

Command.run(bench, { version: "0.1.0" }).pipe(
  Effect.catchTag("BenchFailed", ({ message }) =>
    Effect.andThen(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
