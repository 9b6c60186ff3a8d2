import { assert } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import { eventually } from "@satrail/testing/Waiting"
import type { Demo } from "../src/deployment/DemoFile.ts"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { sources } from "./sources.ts"

const root = path.resolve(import.meta.dirname, "../../..")

export { eventually }

/** Milliseconds for which a killed process's claim blocks its successor, plus a margin. */
export const leaseMillis = 31_000

/** A service process that has exited, with its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A running service process. */
export interface Running {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  readonly isOver: () => boolean
  readonly ended: Promise<Ended>
  readonly kill: (signal: NodeJS.Signals) => void
}

// Kill every service when the test run is interrupted.
const alive = new Set<ChildProcess>()
process.once("exit", () => alive.forEach((child) => child.kill("SIGKILL")))

/** The directory of the programs bundled by programs.ts, if any. */
const bundled = process.env["SATRAIL_TEST_PROGRAMS"]

const fileOf = (program: keyof typeof sources): string =>
  bundled === undefined
    ? path.join(import.meta.dirname, sources[program])
    : path.join(bundled, `${program}.mjs`)

/**
 * Runs one of our programs. It inherits only the environment variables needed to find programs and files.
 */
export const run = (
  program: keyof typeof sources,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  nodeOptions: ReadonlyArray<string> = []
): Running => {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      // Compile the embedded database's WebAssembly quickly and without optimization, because a test's process
      // is too short-lived to benefit from optimized code.
      "--liftoff-only",
      ...nodeOptions,
      ...(env["CLOCK_FILE"] === undefined ? [] : ["--import", path.join(import.meta.dirname, "Later.ts")]),
      fileOf(program),
      ...args
    ],
    {
      cwd: root,
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        // A compile cache halves the start time.
        NODE_COMPILE_CACHE:
          bundled === undefined
            ? path.join(root, "node_modules/.cache/node")
            : path.join(bundled, "compiled"),
        ...env
      },
      stdio: ["ignore", "pipe", "pipe"]
    }
  )
  const [stdout, stderr]: readonly [Array<string>, Array<string>] = [[], []]
  child.stdout?.setEncoding("utf8").on("data", (text: string) => stdout.push(text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr.push(text))
  let over = false
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => {
      over = true
      alive.delete(child)
      resolve({ code, signal, stdout: stdout.join(""), stderr: stderr.join("") })
    })
  })
  alive.add(child)
  return {
    pid: child.pid ?? assert.fail("the process did not start"),
    stdout: () => stdout.join(""),
    stderr: () => stderr.join(""),
    isOver: () => over,
    ended,
    kill: (signal) => child.kill(signal)
  }
}

/** A new, empty directory. */
export const directory = (): string => mkdtempSync(path.join(os.tmpdir(), "satrail-stories-"))

/** A parsed response. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly message: string
  // Scenarios check the data themselves.
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  readonly data: any
  readonly code: string | undefined
}

export interface Ask {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const send = async (
  url: string,
  method: string,
  { key, body, headers = {} }: Ask
): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: {
      // Do not reuse connections. A server that stalled for a moment may close an idle connection while a
      // request is being sent on it.
      connection: "close",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers
    },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await OpenApi.textOf(response)
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
  const read = isJson ? JSON.parse(text) : {}
  return {
    status: response.status,
    headers: response.headers,
    text,
    message: read.message,
    data: read.data,
    code: read.error?.code
  }
}

/** Values that must never appear in a log: keys and proofs of payment. They are found in responses by field name. */
const secretsIn = (data: unknown): ReadonlyArray<string> => {
  if (Array.isArray(data)) return data.flatMap(secretsIn)
  if (typeof data !== "object" || data === null) return []
  return Object.entries(data).flatMap(([name, value]) =>
    typeof value === "string" &&
    value !== "" &&
    ["key", "preimage", "r_preimage", "payment_preimage"].includes(name)
      ? [value]
      : secretsIn(value)
  )
}

/** A company and the requests that its programs send. */
export interface Company {
  readonly id: string
  readonly key: string
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>
}

/** Successive service processes on one data directory, and a client for them. */
export type Service = ReturnType<typeof make>

export const make = ({
  claimMillis = leaseMillis,
  program = "main"
}: {
  readonly claimMillis?: number
  readonly program?: "main" | "pair" | "points"
} = {}) => {
  const data = directory()
  const secrets = new Set<string>()
  const past: Array<Running> = []
  let running: Running | undefined
  let url = ""
  let aheadMillis = 0
  const clock = path.join(data, "clock")

  const demo = (): Demo => JSON.parse(readFileSync(path.join(data, "demo.json"), "utf8"))

  /** The operator token that the service generated at startup. */
  const token = (): string => demo().operator_token ?? assert.fail("the test set the operator token itself")

  const env = (): Record<string, string> => ({
    PORT: "0",
    SATRAIL_DATA: data,
    SATRAIL_LOG_LEVEL: "debug",
    ...(aheadMillis > 0 && { CLOCK_FILE: clock })
  })

  const ask = async (method: string, route: string, options: Ask = {}): Promise<Answer> => {
    const answer = await send(url + route, method, options)
    for (const secret of secretsIn(answer.data)) secrets.add(secret)
    return answer
  }

  /** Starts the service in the directory and waits until `/readyz` returns the expected status. */
  const start = async (others: Readonly<Record<string, string>> = {}, readyz = 200): Promise<void> => {
    assert.isUndefined(running, "one service at a time")
    const started = run(program, [], { ...env(), ...others })
    running = started
    past.push(started)
    const said = await eventually(
      "a start",
      async () => (started.isOver() ? started.stderr() : started.stdout()),
      (text) => started.isOver() || text.includes("Ctrl-C")
    )
    url = /running at (http:\S+),/.exec(said)?.[1] ?? assert.fail(`the service did not start: ${said}`)
    await eventually(
      "readiness",
      () => ask("GET", "/readyz"),
      ({ status }) => status === readyz
    )
    const { api_key: apiKey, operator_token: operatorToken = apiKey } = demo()
    secrets.add(apiKey).add(operatorToken)
  }

  /** SIGTERM must lead to a clean exit. SIGKILL ends the process without warning. */
  const stop = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    const stopping = running ?? assert.fail("nothing is running")
    running = undefined
    stopping.kill(signal)
    await eventually(
      `an exit by ${signal}`,
      async () => stopping.isOver(),
      (isOver) => isOver
    )
    const ended = await stopping.ended
    if (signal === "SIGTERM")
      assert.deepStrictEqual([ended.code, ended.signal], [0, null], "a requested stop exits with 0")
    else writeFileSync(clock, String((aheadMillis += claimMillis)))
  }

  const companyOf = (id: string, key: string): Company => ({
    id,
    key,
    get: (route) => ask("GET", route, { key }),
    post: (route, body, headers) =>
      ask("POST", route, { key, body, ...(headers !== undefined && { headers }) })
  })

  const operate = async (route: string, body: unknown): Promise<Answer> =>
    ask("POST", `/operator${route}`, { key: token(), body })

  return {
    data,
    demo,
    token,
    env,
    ask,
    start,
    stop,
    operate,
    url: () => url,
    /** Returns true if the current process has exited by itself or if no process is running. */
    isOver: () => running?.isOver() ?? true,
    pid: () => running?.pid ?? assert.fail("nothing is running"),
    stdout: () => past.map(({ stdout }) => stdout()),
    /** Every line logged by any service process that used this directory. */
    logs: () =>
      past.flatMap(({ stderr }) =>
        stderr()
          .split("\n")
          .filter((line) => line !== "")
      ),
    secrets: (): ReadonlyArray<string> => [...secrets],

    /** A new company with an unrestricted key. */
    company: async (plan: "free" | "paid"): Promise<Company> => {
      const opened = await operate("/companies", { name: "Example Ltd", plan })
      const issued = await operate(`/companies/${opened.data.id}/api-keys`, {
        name: "stories",
        scopes: ["admin"]
      })
      return companyOf(opened.data.id, issued.data.key)
    },

    /** Kills the process if it still runs, and deletes its files. */
    end: async (): Promise<void> => {
      running?.kill("SIGKILL")
      await running?.ended
      rmSync(data, { recursive: true, force: true })
    }
  }
}
