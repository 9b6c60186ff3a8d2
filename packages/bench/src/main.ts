import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option, type Scope } from "effect"
import { Command, Flag } from "effect/cli"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Fill from "./Fill.ts"
import * as Measurements from "./Measurements.ts"
import * as Postgres from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Sizes from "./Sizes.ts"
import * as Subject from "./Subject.ts"

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
): Effect.fn.Return<Report.Found, Program.BenchFailed, Scope.Scope> {
  const subject = yield* Subject.make(postgres, bench, { name: "api", rows: baseRows })
  const idle = yield* Subject.lazily(Subject.make(postgres, bench, { name: "no sender", rows: baseRows }))
  const webhooks = yield* Subject.lazily(
    Subject.make(postgres, bench, { name: "webhooks", rows: baseRows, workers: "features" })
  )
  const shipped = yield* Subject.lazily(
    Subject.make(postgres, bench, { name: "shipped", rows: 0, workers: "shipped" })
  )
  const measured = yield* Rounds.measure(
    yield* Measurements.groups(bench, subject, { idle, webhooks, shipped }),
    bench
  )
  const sizes: Array<Report.Size> = []
  if (bench.wanted("peak memory") && measured.rates.length > 0) {
    sizes.push(
      Sizes.peak("HTTP only", subject.server.pid),
      Sizes.peak("whole service", (yield* shipped).server.pid)
    )
  }
  if (bench.wanted("idle statements")) sizes.push(...(yield* Sizes.idleStatements(yield* shipped)))
  // This comes last, because the service keeps retrying the dead endpoint.
  if (bench.wanted("webhook delay")) sizes.push(...(yield* Sizes.webhookDelay(yield* shipped, bench)))
  return { ...measured, sizes }
})

/** Disk space that one history row needs, including its indexes, the WAL and sorting. */
const bytesPerRow = 1600
const moreGibibytes = 6

/** Measures how the cost of operations grows with the number of history rows. */
const growth = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  bench: Subject.Bench,
  rows: ReadonlyArray<number>
): Effect.fn.Return<Report.Found, Program.BenchFailed, Scope.Scope> {
  const gibibytes =
    moreGibibytes + Math.ceil((rows.reduce((sum, more) => sum + more, 0) * bytesPerRow) / 2 ** 30)
  bench.tell(`growth needs about ${gibibytes} GiB of disk`)
  const subjects = yield* Effect.forEach(rows, (rows) =>
    Subject.make(postgres, bench, { name: `${rows} rows`, rows })
  )
  const bySize = subjects.map((subject) => Object.values(Measurements.operations(subject)))
  const grown: Array<Rounds.Grown> = []
  for (const [at, operation] of (bySize[0] ?? []).entries()) {
    if (!bench.wanted(operation.operation)) continue
    const runs = bySize.flatMap((operations) => operations[at]?.run ?? [])
    grown.push(yield* Rounds.grown(operation, rows, runs, bench))
  }
  const searches = bench.wanted("search")
    ? yield* Effect.forEach(subjects, (subject, at) => Sizes.search(subject, rows[at] ?? NaN))
    : []
  return { growth: grown, sizes: searches.flat() }
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
      catch: (cause) =>
        new Program.BenchFailed({
          message: `${build} is neither a checkout nor a commit that builds: ${String(cause)}`
        })
    }),
    () => Effect.sync(() => existsSync(checkout) && git("worktree", "remove", "--force", checkout))
  )
})

/**
 * Alternates requests between this build and another one. Each build has its own database and creates the
 * tables in it.
 */
const against = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  bench: Subject.Bench,
  build: string
) {
  const sources = yield* built(build, bench.directory)
  const subject = yield* Subject.make(postgres, bench, { name: "this build", rows: baseRows })
  const other = yield* Subject.make(postgres, bench, { name: "the other build", rows: baseRows, sources })
  return yield* Rounds.measure(Measurements.against(subject, other), bench)
})

const whole = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (value) => value >= 1,
      () => "at least 1"
    ),
    Flag.withDescription(`${description} (${fallback})`),
    Flag.withDefault(fallback)
  )

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const flags = {
  rounds: whole("rounds", 5, "Number of rounds; each operation is measured once per round"),
  seconds: whole("seconds", 2, "Seconds for which an operation is measured in each round"),
  full: Flag.Boolean("full").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Also measures growth, which takes many minutes and gigabytes")
  ),
  sizes: Flag.String("sizes").pipe(
    Flag.withDescription("Numbers of history rows that --full compares (10000,1000000,10000000)"),
    Flag.withDefault("10000,1000000,10000000"),
    Flag.map((text) => text.split(",").map(Number)),
    Flag.filter(
      (sizes) => sizes.every((size) => Number.isInteger(size) && size >= Fill.fewestRows),
      () => `whole numbers not below ${Fill.fewestRows}`
    )
  ),
  only: text("only", "Measures only operations whose names contain this text, such as balance or start"),
  out: text("out", "Writes the tables to bench.md in this directory"),
  profile: text("profile", "Writes CPU profiles of the service's processes to this directory"),
  against: text("against", "Compares this build with a commit or a built checkout, in alternating runs")
}

/** Measurements that start processes of their own, so that they need no filled database. */
const apart = ["start", "idle memory", "satrail --help", "statements alone"]

const run = Effect.fnUntraced(function* (options: Command.Command.Config.Infer<typeof flags>) {
  const only = Option.getOrUndefined(options.only)?.toLowerCase()
  const wanted = (operation: string) => only === undefined || operation.toLowerCase().includes(only)
  const found = yield* Postgres.make
  const postgres = typeof found === "string" ? undefined : found
  const gibibytes = Math.round(os.totalmem() / 2 ** 30)
  yield* Console.log(
    `${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, ${gibibytes} GiB, ${os.platform()} ${os.release()}, Node ${process.version}, PostgreSQL ${postgres?.version ?? "none"}`
  )
  const profile = Option.map(options.profile, (directory) => [
    "--cpu-prof",
    `--cpu-prof-dir=${path.resolve(directory)}`
  ])
  const bench: Subject.Bench = {
    generator: yield* Subject.generator,
    directory: yield* temporary,
    nodeArgs: Option.getOrElse(profile, () => []),
    seconds: options.seconds,
    rounds: options.rounds,
    wanted,
    tell: (line) => process.stderr.write(`${line}\n`)
  }
  const all: Array<Report.Found> = []
  if (Option.isSome(options.against)) {
    if (typeof found === "string") return yield* new Program.BenchFailed({ message: found })
    all.push(yield* against(found, bench, options.against.value))
  } else {
    if (typeof found === "string")
      yield* Console.log(
        `Measuring only startup with the embedded database, because PostgreSQL is not available: ${found}`
      )
    else {
      if (!apart.some((name) => only?.startsWith(name)))
        all.push(yield* Effect.scoped(underLoad(found, bench)))
      if (options.full) all.push(yield* Effect.scoped(growth(found, bench, options.sizes)))
    }
    if (wanted("statements alone")) all.push({ sizes: yield* Sizes.alone })
    if (apart.slice(0, 3).some(wanted))
      all.push({ sizes: [...(yield* Sizes.starts(postgres, bench)), Sizes.help(bench)] })
  }
  const report = Report.tables(all).map(Report.markdown).join("\n\n")
  yield* Console.log(`\n${report === "" ? `No operation's name contains ${only}.` : report}`)
  if (Option.isSome(options.out)) {
    mkdirSync(options.out.value, { recursive: true })
    writeFileSync(path.join(options.out.value, "bench.md"), `${report}\n`)
  }
}, Effect.scoped)

const bench = Command.make("bench", flags, run).pipe(
  Command.withDescription("Measures the service on this machine")
)

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
