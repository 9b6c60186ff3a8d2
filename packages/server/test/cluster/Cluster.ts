import { assert } from "@effect/vitest"
import * as Storage from "@satrail/postgres/Storage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Books from "../Books.ts"
import { type Answer, type Ask, type Company, directory, eventually, leaseMillis, run, type Running, send } from "../Service.ts"
import * as Points from "./Points.ts"
import * as Remote from "./Remote.ts"

const operatorToken = "the-operators-token-in-these-tests"

/** Written beside and moved into place: whoever reads it at the same time reads all of it. */
const write = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** A process of the service, and where it is asked. */
interface Replica {
  readonly running: Running
  readonly url: string
}

/** Several processes of the service over one PostgreSQL and one pretend network. */
export type Cluster = Awaited<ReturnType<typeof make>>

/** How a cluster differs from three processes with the usual configuration over a database that need not outlive a power cut. */
export interface Options {
  readonly size?: number
  /** Of each process's environment. */
  readonly more?: Readonly<Record<string, string>>
  /** What Node is started with. Nothing unless told: the tests run the sources. */
  readonly nodeOptions?: ReadonlyArray<string>
  /** Of the database's configuration. */
  readonly settings?: ReadonlyArray<string>
  /** Another database than one server of this configuration. */
  readonly postgres?: () => Promise<PostgresServer.PostgresServer>
  /** Whether all clocks go forward by a claim's length whenever a process is killed, so that nobody waits for what it had claimed. They do unless told. */
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

  const network = await begin("network", { SANDBOX_DIRECTORY: sandboxDirectory }, /the network is at (http:\S+)/)
  const outside = ManagedRuntime.make(Remote.layer(network.url))

  const stopped = async (running: Running): Promise<void> => {
    const { code, signal } = await running.ended
    assert.deepStrictEqual([code, signal], [0, null], "a stop that was asked for ends well")
  }

  /** Starts the service at a place that is free. Whenever it is killed there it is started again. */
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

  /** Asks one replica after the other. Who gets no answer asks the next one where that does no harm: to read, or with a key. */
  const ask = async (method: string, route: string, options: Ask = {}): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      const all = alive()
      const replica = all[turn++ % Math.max(1, all.length)]
      try {
        if (replica !== undefined) return await send(replica.url + route, method, options)
        await starting
        if (alive().length === 0) throw new Error("no process runs, and none is being started")
      } catch (cause) {
        if ((method !== "GET" && options.headers?.["Idempotency-Key"] === undefined) || tries === 10) throw cause
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
    alive,
    points,
    urls: () => alive().map(({ url }) => url),
    /** Asks with the operator's token. */
    operate,
    /** Somebody outside, or the weather. */
    outside: <A, E>(what: (sandbox: Sandbox["Service"]) => Effect.Effect<A, E>): Promise<A> =>
      outside.runPromise(Effect.flatMap(Sandbox, what)),
    /** How many were killed so far. */
    deaths: () => deaths,
    /** Stops the process at one place, which must end well, and starts another there. */
    restart: async (at: number): Promise<void> => {
      const { running } = replicas[at] ?? assert.fail(`nobody is at ${at}`)
      running.kill("SIGTERM")
      await stopped(running)
      await start(at)
    },
    /** Waits until all that were killed are back. */
    complete: () =>
      eventually(
        "all replicas",
        async () => {
          await starting
          return alive().length
        },
        (count) => count === size
      ),
    /** Has whoever comes to this point wait there until it is opened. `waiting` says who does, by process, as often as he does. */
    hold: (point: string) => {
      rmSync(points.waiting, { force: true })
      write(points.gate, point)
      return {
        waiting: async () => (existsSync(points.waiting) ? readFileSync(points.waiting, "utf8").trim().split("\n") : []),
        open: () => rmSync(points.gate)
      }
    },
    /** Everyone's clock goes forward by as much as a claim lasts. */
    overslept: () => write(clock, String((aheadMillis += leaseMillis))),

    /** A new company, with a key for everything, within these limits. */
    company: async (plan: "free" | "paid" = "paid", limits: Readonly<Record<string, number>> = {}): Promise<Company> => {
      const { id } = await operate("/companies", { name: "Example Ltd", plan })
      const { key } = await operate(`/companies/${id}/api-keys`, { name: "cluster", scopes: ["admin"], limits })
      return {
        id,
        key,
        get: (route) => ask("GET", route, { key }),
        post: (route, body, headers) => ask("POST", route, { key, body, ...(headers !== undefined && { headers }) })
      }
    },

    /** Stops all, which must end well, and looks into the books. Nothing may be on its way. */
    audit: async (): Promise<void> => {
      await starting
      ending = true
      const stopping = alive()
      for (const { running } of stopping) running.kill("SIGTERM")
      for (const { running } of stopping) await stopped(running)
      await outside.dispose()
      network.running.kill("SIGTERM")
      await network.running.ended
      await Books.agree(Storage.layer({ url: Redacted.make(postgres.url), maxConnections: 2 }), sandboxDirectory)
    },

    /** What all processes have complained about so far. */
    logs: () => past.map(({ stderr }) => stderr()).join(""),

    /** Ends whatever still runs, and leaves nothing behind. */
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
