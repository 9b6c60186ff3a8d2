import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Generator from "./Generator.ts"
import * as Postgres from "./Postgres.ts"
import * as Rates from "./Rates.ts"
import * as Report from "./Report.ts"
import * as Starts from "./Starts.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-bench-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const tell = (line: string) => process.stderr.write(`${line}\n`)

const rateHead = ["operation", "store", "clients", "per s", "of the limit", "p50 ms", "p99 ms", "CPU µs", "rounds"]
const sizeHead = ["operation", "store", "unit", "median", "worst", "target", "first ever", "rounds"]

const run = Effect.fnUntraced(function* (options: {
  readonly rounds: number
  readonly seconds: number
  readonly only: Option.Option<string>
  readonly out: Option.Option<string>
  readonly profile: Option.Option<string>
}) {
  const { rounds, seconds } = options
  const only = Option.getOrUndefined(options.only)?.toLowerCase()
  const wanted = (operation: string) => only === undefined || operation.toLowerCase().includes(only)
  const profileDirectory = Option.getOrUndefined(Option.map(options.profile, (directory) => path.resolve(directory)))

  const directory = yield* temporary
  const postgres = yield* Postgres.make
  const stores: ReadonlyArray<Starts.Store> = [
    ...("missing" in postgres
      ? []
      : [
          {
            pattern: "postgres" as const,
            directory: path.join(directory, "postgres"),
            databaseUrl: postgres.url,
            profileDirectory,
            startTargetMillis: 1500,
            memoryTargetMebibytes: 150
          }
        ]),
    {
      pattern: "embedded",
      directory: path.join(directory, "embedded"),
      databaseUrl: undefined,
      profileDirectory,
      startTargetMillis: 3000,
      memoryTargetMebibytes: 500
    }
  ]
  const machine = Report.machine("missing" in postgres ? "none" : postgres.version)
  yield* Console.log(
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}, Node ${machine.node}, PostgreSQL ${machine.postgres}`
  )
  if ("missing" in postgres) yield* Console.log(`Without PostgreSQL: ${postgres.missing}`)

  const generator = yield* Generator.start
  const selfCheck = wanted("self-check") ? yield* Generator.selfCheck(generator) : undefined
  if (selfCheck !== undefined) {
    const { openMillis, closedMillis } = selfCheck
    yield* Console.log(
      `The generator, at a server that stalls for 300 ms: p99 ${openMillis.toFixed(0)} ms in an open loop, ${closedMillis.toFixed(1)} ms in a closed one`
    )
  }
  const sizes = wanted("start") || wanted("memory") ? yield* Starts.measure(stores, rounds, tell) : []
  const rows = yield* Rates.measure(stores, generator, { rounds, seconds, wanted, tell })

  if (sizes.length + rows.length === 0 && selfCheck === undefined) yield* Console.log(`Nothing here has ${only} in its name.`)
  if (sizes.length > 0) {
    const cells = sizes.map((size) => [
      size.operation,
      size.pattern,
      size.unit,
      size.median,
      size.worst,
      size.target,
      size.first,
      size.rounds
    ])
    yield* Console.log(`\n${Report.table(sizeHead, cells)}`)
  }
  if (rows.length > 0) {
    const cells = rows.map((row) => [
      row.operation,
      row.pattern,
      row.clients,
      row.ours_per_s,
      row.ratio,
      row.p50_ms,
      row.p99_ms,
      row.cpu_us,
      row.rounds
    ])
    yield* Console.log(`\n${Report.table(rateHead, cells)}`)
  }
  if (Option.isSome(options.out)) {
    const file = path.join(options.out.value, "bench.json")
    mkdirSync(options.out.value, { recursive: true })
    writeFileSync(file, `${JSON.stringify({ machine, self_check: selfCheck ?? null, sizes, rows }, null, 2)}\n`)
    yield* Console.log(`\nWritten to ${file}`)
  }
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
    only: Flag.String("only").pipe(
      Flag.withDescription("Only the operations with this in their name, such as balance or start"),
      Flag.optional
    ),
    out: Flag.String("out").pipe(Flag.withDescription("A directory that bench.json is written to"), Flag.optional),
    profile: Flag.String("profile").pipe(
      Flag.withDescription("A directory for CPU profiles of the service, one each time it ran"),
      Flag.optional
    )
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
