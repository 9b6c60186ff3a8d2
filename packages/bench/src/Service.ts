import { freePort } from "@satrail/testing/freePort"
import { Effect, Schedule, type Scope } from "effect"
import { spawn } from "node:child_process"
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

const maxStartMillis = 120_000

const untilReady = (port: number): Effect.Effect<void> =>
  Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/readyz`)).pipe(
    Effect.filterOrFail(({ ok }) => ok),
    Effect.retry({ schedule: Schedule.spaced(5) }),
    Effect.orDie,
    Effect.asVoid
  )

/** Starts the shipped service, as `npm start` does, and waits until it is ready. It stops when the scope closes. */
export const start = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Service, Program.BenchFailed, Scope.Scope> {
  const main = bundled("main.mjs")
  if (!existsSync(main))
    return yield* new Program.BenchFailed({ message: "The service is not built: use npm run bench" })
  const port = yield* Effect.promise(freePort)
  // Pass on only these variables, so that a developer's settings don't change the results.
  const env = {
    PATH: process.env["PATH"],
    PORT: String(port),
    SATRAIL_DATA: options.directory,
    ...Program.surroundings(options.directory),
    SATRAIL_LOG_LEVEL: "error",
    SATRAIL_REQUESTS_PER_KEY: "0",
    ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
    ...options.env
  }
  const embedded = options.databaseUrl === undefined ? ["--liftoff-only"] : []
  const args = [...options.nodeArgs, "--conditions=compiled", ...Program.heap, ...embedded, main]
  const startedAt = performance.now()
  const { pid, died } = yield* Program.hosted("the service", () =>
    spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env })
  )
  yield* Effect.raceFirst(untilReady(port), died).pipe(
    Effect.timeoutOrElse({
      duration: maxStartMillis,
      orElse: () =>
        Effect.fail(
          new Program.BenchFailed({ message: `the service was not ready after ${maxStartMillis / 1000} s` })
        )
    })
  )
  return { port, pid, readyzMillis: performance.now() - startedAt }
})
