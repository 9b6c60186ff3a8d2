import { Effect, Schedule, type Scope } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Program from "./Program.ts"

/**
 * Settings for starting the service. Without `databaseUrl`, it uses the embedded database, which is stored in
 * `directory`.
 */
export interface Options {
  readonly directory: string
  readonly databaseUrl: string | undefined
  readonly nodeArgs: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

/** A running service, and the time from the start of its process to the first 200 of `/readyz`. */
export interface Service extends Program.Server {
  readonly readyzMillis: number
}

/** Returns the path of a file of the shipped service. */
export const bundled = (file: string): string =>
  fileURLToPath(new URL(`./bundle/${file}`, import.meta.resolve("@satrail/server/package.json")))

const pollMillis = 5
const maxStartMillis = 120_000

const untilReady = (port: number): Effect.Effect<void> =>
  Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/readyz`)).pipe(
    Effect.filterOrFail(({ ok }) => ok),
    Effect.retry({ schedule: Schedule.spaced(pollMillis) }),
    Effect.orDie,
    Effect.asVoid
  )

/** Starts the shipped service, as `npm start` does, and waits until it is ready. It stops when the scope closes. */
export const start = Effect.fnUntraced(function* ({
  directory,
  databaseUrl,
  nodeArgs,
  env = {}
}: Options): Effect.fn.Return<Service, Program.BenchFailed, Scope.Scope> {
  const main = bundled("main.mjs")
  if (!existsSync(main)) return yield* new Program.BenchFailed({ message: "The service is not built: use npm run bench" })
  const port = yield* Program.freePort
  const startedAt = performance.now()
  const { pid, died } = yield* Program.start(
    "the service",
    process.execPath,
    [...nodeArgs, "--conditions=compiled", "--expose-gc", ...Program.heap, main],
    {
      // Pass on only these variables, so that a developer's settings don't change the results.
      PATH: process.env["PATH"],
      PORT: String(port),
      SATRAIL_DATA: directory,
      ...Program.surroundings(directory),
      SATRAIL_LOG_LEVEL: "error",
      SATRAIL_REQUESTS_PER_KEY: "0",
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...env
    }
  )
  yield* Effect.raceFirst(untilReady(port), died).pipe(
    Effect.timeoutOrElse({
      duration: maxStartMillis,
      orElse: () => Effect.fail(new Program.BenchFailed({ message: `the service was not ready after ${maxStartMillis / 1000} s` }))
    })
  )
  return { port, pid, readyzMillis: performance.now() - startedAt }
})
