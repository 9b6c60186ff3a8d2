import { assert } from "@effect/vitest"
import * as Storage from "@satrail/service/postgres/Storage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Books from "../Books.ts"
import {
  type Answer,
  type Ask,
  type Company,
  directory,
  eventually,
  leaseMillis,
  run,
  type Running,
  send
} from "../Service.ts"
import * as Points from "./Points.ts"
import * as Remote from "./Remote.ts"

const operatorToken = "the-operators-token-in-these-tests"

/** Writes to a temporary file and renames it, so that readers see all of it or nothing. */
const write = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** A process of the service, and its address. */
interface Replica {
  readonly running: Running
  readonly url: string
}

/** Several processes of the service on one PostgreSQL and one simulated network. */
export type Cluster = Awaited<ReturnType<typeof make>>

/**
 * Overrides of the default: three processes with the usual configuration, on a database that need not survive a
 * power failure.
 */
export interface Options {
  readonly size?: number
  /** Added to each process's environment. */
  readonly more?: Readonly<Record<string, string>>
  /** Node options. None by default, because the tests run the sources. */
  readonly nodeOptions?: ReadonlyArray<string>
  /** Added to the database's configuration. */
  readonly settings?: ReadonlyArray<string>
  /** Replaces the single server with this configuration. */
  readonly postgres?: () => Promise<PostgresServer.PostgresServer>
  /**
   * If true (the default), a kill moves all clocks ahead by the length of a claim, so that no test waits for
   * the killed process's claims.
   */
  readonly clocksMove?: boolean
}

const one = (settings: ReadonlyArray<string>) => {
  const installation = PostgresServer.find()
  if ("missing" in installation) throw new Error(`there is no PostgreSQL here: ${installation.missing}`)
  return PostgresServer.start(installation, { settings })
}

export const make = async ({
  size = 3,
  more = {},
  nodeOptions = [],
  settings = PostgresServer.careless,
  postgres: begun = () => one(settings),
  clocksMove = true
}: Options = {}) => {
  const postgres = await begun()
  const home = directory()
  const clock = path.join(home, "clock")
  const points = Points.files(home)
  const sandboxDirectory = path.join(home, "sandbox")
  const replicas: Array<Replica | undefined> = Array.from({ length: size })
  const past: Array<Running> = []
  let starting = Promise.resolve()
  let aheadMillis = 0
  let ending = false
  let turn = 0
  let deaths = 0

  const begin = async (program: "network" | "replica", env: Record<string, string>, sign: RegExp) => {
    const running = run(program, [], { CLOCK_FILE: clock, ...env }, nodeOptions)
    past.push(running)
    const said = await eventually(
      `the start of a ${program}`,
      async () => (running.isOver() ? running.stderr() : running.stdout()),
      (text) => running.isOver() || sign.test(text)
    )
    return { running, url: sign.exec(said)?.[1] ?? assert.fail(`the ${program} did not start: ${said}`) }
  }

  const network = await begin(
    "network",
    { SANDBOX_DIRECTORY: sandboxDirectory },
    /the network is at (http:\S+)/
  )
  const outside = ManagedRuntime.make(Remote.layer(network.url))

  const stopped = async (running: Running): Promise<void> => {
    const { code, signal } = await running.ended
    assert.deepStrictEqual([code, signal], [0, null], "a requested stop exits with 0")
  }

  /** Starts the service in a slot, and restarts it there whenever it is killed. */
  const start = async (at: number): Promise<void> => {
    const replica = await begin(
      "replica",
      {
        PORT: "0",
        DATABASE_URL: postgres.url,
        NETWORK_URL: network.url,
        POINTS_DIRECTORY: home,
        SATRAIL_DATA: path.join(home, `replica-${at}`),
        SATRAIL_OPERATOR_TOKEN: operatorToken,
        SATRAIL_DATABASE_CONNECTIONS: "5",
        SATRAIL_LOG_LEVEL: "warn",
        ...more
      },
      /running at (http:\S+),/
    )
    replicas[at] = replica
    void onceEnded(at, replica)
  }

  const onceEnded = async (at: number, replica: Replica): Promise<void> => {
    const { signal } = await replica.running.ended
    if (replicas[at] === replica) replicas[at] = undefined
    if (signal !== "SIGKILL" || ending) return
    deaths++
    if (clocksMove) write(clock, String((aheadMillis += leaseMillis)))
    const before = starting
    starting = before.then(() => start(at))
  }
  await Promise.all(replicas.map((_, at) => start(at)))

  const alive = (): ReadonlyArray<Replica> =>
    replicas.flatMap((replica) => (replica === undefined || replica.running.isOver() ? [] : [replica]))

  /**
   * Sends requests to the replicas in turn. A request that gets no response is repeated at the next replica if
   * this is safe, as it is for a read or a request with an idempotency key.
   */
  const ask = async (method: string, route: string, options: Ask = {}): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      const all = alive()
      const replica = all[turn++ % Math.max(1, all.length)]
      try {
        if (replica !== undefined) return await send(replica.url + route, method, options)
        await starting
        if (alive().length === 0) throw new Error("no process runs, and none is being started")
      } catch (cause) {
        if ((method !== "GET" && options.headers?.["Idempotency-Key"] === undefined) || tries === 10)
          throw cause
      }
    }
  }

  const operate = async (route: string, body: unknown, expected = 201) => {
    const { status, data, text } = await ask("POST", `/operator${route}`, { key: operatorToken, body })
    assert.strictEqual(status, expected, text)
    return data
  }

  return {
    postgres,
    operatorToken,
    alive,
    points,
    urls: () => alive().map(({ url }) => url),
    /** Sends a request with the operator's token. */
    operate,
    /** Acts on the simulated network. */
    outside: <A, E>(what: (sandbox: Sandbox["Service"]) => Effect.Effect<A, E>): Promise<A> =>
      outside.runPromise(Effect.flatMap(Sandbox, what)),
    /** The number of killed processes so far. */
    deaths: () => deaths,
    /** Stops the process in one slot and starts another one there. The first must exit cleanly. */
    restart: async (at: number): Promise<void> => {
      const { running } = replicas[at] ?? assert.fail(`no process is in slot ${at}`)
      running.kill("SIGTERM")
      await stopped(running)
      await start(at)
    },
    /** Waits until all killed processes are running again. */
    complete: () =>
      eventually(
        "all replicas",
        async () => {
          await starting
          return alive().length
        },
        (count) => count === size
      ),
    /**
     * Makes every process that reaches this point wait there until `open` is called. `waiting` returns the
     * waiting processes' ids, one for each call that waits.
     */
    hold: (point: string) => {
      rmSync(points.waiting, { force: true })
      write(points.gate, point)
      return {
        waiting: async () =>
          existsSync(points.waiting) ? readFileSync(points.waiting, "utf8").trim().split("\n") : [],
        open: () => rmSync(points.gate)
      }
    },
    /**
     * Resumes every process that a failed test has left waiting or suspended, so that later tests don't wait
     * for that process.
     */
    release: () => {
      rmSync(points.gate, { force: true })
      for (const { running } of alive()) running.kill("SIGCONT")
    },
    /** Moves every clock ahead by the length of a claim. */
    overslept: () => write(clock, String((aheadMillis += leaseMillis))),

    /** A new company with an unrestricted key and these limits. */
    company: async (
      plan: "free" | "paid" = "paid",
      limits: Readonly<Record<string, number>> = {}
    ): Promise<Company> => {
      const { id } = await operate("/companies", { name: "Example Ltd", plan })
      const { key } = await operate(`/companies/${id}/api-keys`, {
        name: "cluster",
        scopes: ["admin"],
        limits
      })
      return {
        id,
        key,
        get: (route) => ask("GET", route, { key }),
        post: (route, body, headers) =>
          ask("POST", route, { key, body, ...(headers !== undefined && { headers }) })
      }
    },

    /** Stops all processes, which must exit cleanly, and checks the books. Nothing may be pending. */
    audit: async (): Promise<void> => {
      await starting
      ending = true
      const stopping = alive()
      for (const { running } of stopping) running.kill("SIGTERM")
      for (const { running } of stopping) await stopped(running)
      await outside.dispose()
      network.running.kill("SIGTERM")
      await network.running.ended
      await Books.agree(
        Storage.layer({ url: Redacted.make(postgres.url), maxConnections: 2 }),
        sandboxDirectory
      )
    },

    /** Everything that the processes have written to standard error. */
    logs: () => past.map(({ stderr }) => stderr()).join(""),

    /** Kills the process if it still runs, and deletes its files. */
    end: async (): Promise<void> => {
      ending = true
      for (const { running } of alive()) running.kill("SIGKILL")
      network.running.kill("SIGKILL")
      await Promise.all(past.map(({ ended }) => ended))
      await postgres.end()
      rmSync(home, { recursive: true, force: true })
    }
  }
}
