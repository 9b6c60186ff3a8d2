import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option, type Scope } from "effect"
import { Command, Flag } from "effect/cli"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Fill from "./Fill.ts"
import * as Generator from "./Generator.ts"
import * as Measurements from "./Measurements.ts"
import * as Postgres from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Sizes from "./Sizes.ts"
import * as Subject from "./Subject.ts"

type Found = Parameters<typeof Report.tables>[0]
type Measured<A> = Effect.Effect<A, Program.BenchFailed, Scope.Scope>

const nothing: Found = { rates: [], latencies: [], sizes: [], growth: [] }

/** The number of history rows at which every rate is measured. */
const baseRows = 100_000

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "satrail-bench-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** The default measurements. */
const underLoad = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  bench: Subject.Bench
): Effect.fn.Return<Found, Program.BenchFailed, Scope.Scope> {
  const made = (options: Omit<Subject.Options, "rows">, rows = baseRows) =>
    Subject.lazily(Subject.make(postgres, bench, { ...options, rows }))
  const subject = yield* Subject.make(postgres, bench, { name: "api", rows: baseRows })
  const servers = yield* Measurements.beside(bench)
  const others = {
    webhooks: yield* made({ name: "webhooks", workers: "webhooks" }),
    shipped: yield* made({ name: "shipped", workers: "shipped" }, 0)
  }
  const groups = [...Measurements.ofDatabase(bench, subject, servers), ...Measurements.ofWorkers(subject, others)]
  const { rates, latencies } = yield* Rounds.measure(groups, bench)
  const peaks = Effect.gen(function* () {
    const commits = yield* subject.journal
    const whole = yield* others.shipped
    return [
      Sizes.peak("HTTP only", subject.server.pid),
      Sizes.peak("commits only", commits.pid),
      Sizes.peak("whole service", whole.server.pid)
    ]
  })
  const shipped = (measure: (shipped: Subject.Subject) => Measured<ReadonlyArray<Report.Size>>) => Effect.flatMap(others.shipped, measure)
  const sizes: ReadonlyArray<readonly [what: string, sizes: Measured<ReadonlyArray<Report.Size>>]> = [
    ...(rates.length === 0 ? [] : [["peak memory", peaks] as const]),
    ["idle statements", shipped(Sizes.idleStatements)],
    // This comes last, because the service keeps retrying the dead endpoint.
    ["webhook delay", shipped((whole) => Sizes.webhookDelay(whole, bench))]
  ]
  const found = yield* Effect.forEach(sizes, ([what, measure]) => (bench.wanted(what) ? measure : Effect.succeed([])))
  return { ...nothing, rates, latencies, sizes: found.flat() }
})

/** Disk space that one history row needs, including its indexes, the WAL and sorting. */
const bytesPerRow = 1600
const moreGibibytes = 6

/** Measures how the cost of operations grows with the number of history rows. */
const growth = Effect.fnUntraced(function* (postgres: Postgres.Postgres, bench: Subject.Bench, sizes: ReadonlyArray<number>) {
  const gibibytes = moreGibibytes + Math.ceil((sizes.reduce((sum, rows) => sum + rows, 0) * bytesPerRow) / 2 ** 30)
  bench.tell(`growth needs about ${gibibytes} GiB of disk`)
  const servers = yield* Measurements.beside(bench)
  const subjects = yield* Effect.forEach(sizes, (rows) => Subject.make(postgres, bench, { name: `${rows} rows`, rows }))
  const bySize = subjects.map((subject) => Measurements.ofDatabase(bench, subject, servers).flatMap(({ operations }) => operations))
  const rows: Array<Rounds.Grown> = []
  for (const [at, operation] of (bySize[0] ?? []).entries()) {
    if (operation.grows === undefined || !bench.wanted(operation.operation)) continue
    const runs = sizes.flatMap((rows, size) => {
      const same = bySize[size]?.[at]
      return same === undefined ? [] : [[rows, same.run] as const]
    })
    rows.push(yield* Rounds.grown(operation, operation.grows, runs, bench))
  }
  const searches = bench.wanted("search") ? yield* Effect.forEach(subjects, (subject, at) => Sizes.search(subject, sizes[at] ?? NaN)) : []
  return { growth: rows, sizes: searches.flat() }
})

/**
 * Returns the sources of a built checkout or of a commit. A commit is checked out and built first, and its
 * checkout is removed when the scope closes.
 */
const built = Effect.fnUntraced(function* (build: string, directory: string) {
  const sources = (checkout: string) => path.join(checkout, "packages/bench/src")
  if (existsSync(sources(build))) return sources(path.resolve(build))
  const checkout = path.join(directory, "checkout")
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { stdio: "pipe" })
  return yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        git("worktree", "add", "--detach", checkout, build)
        execFileSync("npm", ["run", "build"], { cwd: checkout, stdio: ["ignore", "ignore", "inherit"] })
        return sources(checkout)
      },
      catch: (cause) => new Program.BenchFailed({ message: `${build} is neither a checkout nor a commit that builds: ${String(cause)}` })
    }),
    () => Effect.sync(() => existsSync(checkout) && git("worktree", "remove", "--force", checkout))
  )
})

/**
 * Alternates requests between this build and another one. Each build has its own database and creates the
 * tables in it.
 */
const against = Effect.fnUntraced(function* (postgres: Postgres.Postgres, bench: Subject.Bench, build: string) {
  const sources = yield* built(build, bench.directory)
  const subject = yield* Subject.make(postgres, bench, { name: "this build", rows: baseRows })
  const other = yield* Subject.make(postgres, bench, { name: "the other build", rows: baseRows, sources })
  return yield* Rounds.measure(Measurements.against(subject, other), bench)
})

interface Options extends Record<"only" | "out" | "profile" | "against", Option.Option<string>> {
  readonly rounds: number
  readonly seconds: number
  readonly full: boolean
  readonly sizes: ReadonlyArray<number>
}

const run = Effect.fnUntraced(function* ({ rounds, seconds, full, sizes, ...options }: Options) {
  const only = Option.getOrUndefined(options.only)?.toLowerCase()
  const wanted = (operation: string) => only === undefined || operation.toLowerCase().includes(only)
  const postgres = yield* Postgres.make
  const version = typeof postgres === "string" ? "none" : postgres.version
  const gibibytes = Math.round(os.totalmem() / 2 ** 30)
  yield* Console.log(
    `${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, ${gibibytes} GiB, ${os.platform()} ${os.release()}, Node ${process.version}, PostgreSQL ${version}`
  )
  const profile = Option.map(options.profile, (directory) => ["--cpu-prof", `--cpu-prof-dir=${path.resolve(directory)}`])
  const bench: Subject.Bench = {
    generator: yield* Generator.start,
    directory: yield* temporary,
    nodeArgs: Option.getOrElse(profile, () => []),
    seconds,
    rounds,
    wanted,
    tell: (line) => process.stderr.write(`${line}\n`)
  }
  const found: Array<Partial<Found>> = []
  if (typeof postgres === "string") {
    if (Option.isSome(options.against)) return yield* new Program.BenchFailed({ message: postgres })
    yield* Console.log(`Measuring only startup with the embedded database, because PostgreSQL is not available: ${postgres}`)
  } else if (Option.isSome(options.against)) found.push(yield* against(postgres, bench, options.against.value))
  else {
    if (!["start", "idle memory"].some((name) => only?.startsWith(name))) found.push(yield* Effect.scoped(underLoad(postgres, bench)))
    if (full) found.push(yield* Effect.scoped(growth(postgres, bench, sizes)))
  }
  if (Option.isNone(options.against) && (wanted("start") || wanted("idle memory")))
    found.push({ sizes: [...(yield* Sizes.starts(typeof postgres === "string" ? undefined : postgres, bench)), Sizes.help(bench)] })
  const tables = Report.tables({
    rates: found.flatMap(({ rates = [] }) => rates),
    latencies: found.flatMap(({ latencies = [] }) => latencies),
    sizes: found.flatMap(({ sizes = [] }) => sizes),
    growth: found.flatMap(({ growth = [] }) => growth)
  })
  const text = tables.map(Report.markdown).join("\n\n")
  yield* Console.log(`\n${text === "" ? `No operation's name contains ${only}.` : text}`)
  if (Option.isSome(options.out)) {
    mkdirSync(options.out.value, { recursive: true })
    writeFileSync(path.join(options.out.value, "bench.md"), `${text}\n`)
  }
}, Effect.scoped)

const checked = <A>(isRight: (value: A) => boolean, wanted: string) =>
  Flag.mapTryCatch(
    (value: A) => {
      if (!isRight(value)) throw new Error()
      return value
    },
    () => wanted
  )

const number = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(
    checked((value) => value >= 1, "at least 1"),
    Flag.withDescription(`${description} (${fallback})`),
    Flag.withDefault(fallback)
  )

const text = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const bench = Command.make(
  "bench",
  {
    rounds: number("rounds", 5, "Number of rounds; each operation is measured once per round"),
    seconds: number("seconds", 2, "Seconds for which an operation is measured in each round"),
    full: Flag.Boolean("full").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Also measures growth, which takes many minutes and gigabytes")
    ),
    sizes: Flag.String("sizes").pipe(
      Flag.withDescription("Numbers of history rows that --full compares (10000,1000000,10000000)"),
      Flag.withDefault("10000,1000000,10000000"),
      Flag.map((text) => text.split(",").map(Number)),
      checked(
        (sizes) => sizes.every((size) => Number.isInteger(size) && size >= Fill.fewestRows),
        `whole numbers not below ${Fill.fewestRows}`
      )
    ),
    only: text("only", "Measures only operations whose names contain this text, such as balance or start"),
    out: text("out", "Writes the tables to bench.md in this directory"),
    profile: text("profile", "Writes CPU profiles of the service's processes to this directory"),
    against: text("against", "Compares this build with a commit or a built checkout, in alternating runs")
  },
  run
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
