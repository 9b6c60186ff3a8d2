import * as Demo from "@satrail/server/deployment/Demo"
import { Effect, Option, type Scope } from "effect"
import { existsSync } from "node:fs"
import { get } from "node:http"
import { fileURLToPath } from "node:url"
import * as Program from "./Program.ts"

/** Where a service keeps its data. Without an address of a database it is embedded, in the directory. */
export interface Options {
  readonly directory: string
  readonly databaseUrl: string | undefined
  /** Where a CPU profile goes when the service stops. None unless given. */
  readonly profileDirectory?: string | undefined
  /** What it is set with besides: on the pretend network unless this says otherwise. */
  readonly env?: Readonly<Record<string, string>>
}

/** A running service, and how long it took from its start as a process to the first good answer. */
export interface Service {
  readonly port: number
  readonly pid: number
  readonly apiKey: string
  readonly healthzMillis: number
  readonly readyzMillis: number
}

const pollMillis = 5
const maxStartMillis = 120_000

const isOk = (port: number, route: string) =>
  Effect.callback<boolean>((resume) => {
    const request = get({ port, host: "127.0.0.1", path: route, agent: false }, (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode === 200)))
    })
    request.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => request.destroy())
  })

/** When a route first answered 200. */
const firstOk = (port: number, route: string): Effect.Effect<number> =>
  Effect.flatMap(isOk(port, route), (ok) =>
    ok ? Effect.sync(() => performance.now()) : Effect.andThen(Effect.sleep(pollMillis), firstOk(port, route))
  )

const demoAt = (directory: string, port: number): Effect.Effect<Demo.Demo> =>
  Effect.suspend(() => {
    const demo = Option.filter(Demo.read(directory), ({ base_url }) => base_url.endsWith(`:${port}`))
    return Option.isSome(demo) ? Effect.succeed(demo.value) : Effect.andThen(Effect.sleep(pollMillis), demoAt(directory, port))
  })

/** Starts the service as `npm start` does once it is built, and waits until it is ready. It stops when the scope closes. */
export const start = ({
  directory,
  databaseUrl,
  profileDirectory,
  env: besides = {}
}: Options): Effect.Effect<Service, Program.BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const main = fileURLToPath(new URL("./bundle/main.mjs", import.meta.resolve("@satrail/server/package.json")))
    if (!existsSync(main))
      return yield* new Program.BenchFailed({ message: "What is measured is the service in one file: use npm run bench" })
    const port = yield* Program.freePort
    // Nothing of a developer's own settings: the same service everywhere.
    const env = {
      PATH: process.env["PATH"],
      PORT: String(port),
      SATRAIL_DATA: directory,
      ...Program.surroundings(directory),
      SATRAIL_LOG_LEVEL: "error",
      // One key asks for all that there is.
      SATRAIL_REQUESTS_PER_KEY: "0",
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...besides
    }
    const profile = profileDirectory === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDirectory}`]
    const startedAt = performance.now()
    const { pid, died } = yield* Program.start(
      "the service",
      process.execPath,
      [...profile, "--conditions=compiled", "--expose-gc", ...Program.heap, main],
      { env }
    )
    const ready = Effect.all([firstOk(port, "/healthz"), firstOk(port, "/readyz")], { concurrency: 2 })
    const [healthzAt, readyzAt] = yield* Effect.raceFirst(ready, died).pipe(
      Effect.timeoutOrElse({
        duration: maxStartMillis,
        orElse: () => Effect.fail(new Program.BenchFailed({ message: `the service was not ready after ${maxStartMillis / 1000} s` }))
      })
    )
    const demo = yield* Effect.raceFirst(demoAt(directory, port), died)
    return { port, pid, apiKey: demo.api_key, healthzMillis: healthzAt - startedAt, readyzMillis: readyzAt - startedAt }
  })
