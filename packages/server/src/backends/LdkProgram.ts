import type { Network } from "@satrail/bitcoin/Network"
import * as Worker from "@satrail/core/base/Worker"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Ldk from "@satrail/nodes/Ldk"
import { Effect, type Exit, Redacted, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Settings } from "./LdkSettings.ts"

// Runs satrail-ldk as a child process: starts it if nothing responds, and restarts it when it exits.

const startMillis = 30_000
const lookMillis = 100
/** Delay before restarting a node that exits immediately. */
const againMillis = 5000
/** Timeout for a stopping node, which only has to write its state. A node that takes longer has hung. */
const stopMillis = 20_000

/** The timestamp of a Go log line. It is removed, because our log adds its own. */
const stamp = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /

export interface LdkProgram {
  /** Succeeds when the node responds, starting it if necessary. */
  readonly ensured: Effect.Effect<void, NodeUnavailable>
  /** Keeps the node running while the scope is open, and then stops the node if this process started it. */
  readonly kept: Effect.Effect<void, never, Scope.Scope>
}

const variables = (settings: Settings, network: Network): Record<string, string> => {
  const { socket, store, bitcoind, esplora, listen, alias, mainnet, acceptStore } = settings
  const given = {
    LDK_SOCKET: socket,
    LDK_NETWORK: network,
    LDK_STORE: store,
    LDK_BITCOIND: bitcoind && Redacted.value(bitcoind),
    LDK_ESPLORA: esplora,
    LDK_LISTEN: listen,
    LDK_ALIAS: alias,
    LDK_MAINNET: mainnet,
    LDK_ACCEPT_STORE: acceptStore,
    LDK_STOPS_WITH_STDIN: "yes"
  }
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}

const none: LdkProgram = { ensured: Effect.void, kept: Effect.void }

export const make = (settings: Settings, network: Network): LdkProgram => {
  const { program, socket } = settings
  if (program === undefined) return none
  let child: ChildProcess | undefined
  let lastWords = ""

  const isOver = (one: ChildProcess) => one.exitCode !== null || one.signalCode !== null
  const isThere = Effect.map(
    Effect.exit(Ldk.identity({ socket, deadlineMillis: 5000 })),
    ({ _tag }: Exit.Exit<unknown, unknown>) => _tag === "Success"
  )

  const start = Effect.map(Effect.context<never>(), (context) => {
    const fork = Effect.runForkWith(context)
    lastWords = "the program could not be run"
    const started = spawn(program, [], {
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...variables(settings, network) },
      // The node stops when its standard input closes, which happens even if this process is killed.
      stdio: ["pipe", "ignore", "pipe"]
    })
    child = started
    started.once("error", ({ message }) => (lastWords = message))
    started.stdin.once("error", () => undefined) // the program has exited, and its exit event reports that
    createInterface(started.stderr).on("line", (line) => {
      lastWords = line.replace(stamp, "")
      fork(Effect.annotateLogs(Effect.logWarning(`satrail-ldk: ${lastWords}`), { program }))
    })
  })

  const answers = Effect.gen(function* () {
    for (let waited = 0; waited < startMillis; waited += lookMillis) {
      if (yield* isThere) return
      if (child === undefined || child.pid === undefined || isOver(child)) break
      yield* Effect.sleep(lookMillis)
    }
    return yield* new NodeUnavailable({
      operation: "start",
      cause: lastWords,
      reason: "satrail-ldk does not start",
      remedy: `${program} reported: ${lastWords}`
    })
  })

  const ensured = Effect.gen(function* () {
    if (yield* isThere) return
    if (child === undefined || child.pid === undefined || isOver(child)) yield* start
    yield* answers
  })

  const stop = Effect.promise(async () => {
    const running = child
    if (running?.pid === undefined || isOver(running)) return
    const ended = once(running, "exit")
    running.kill("SIGTERM")
    const patience = setTimeout(() => running.kill("SIGKILL"), stopMillis)
    await ended
    clearTimeout(patience)
  })

  const watch = Effect.andThen(
    Effect.sleep(againMillis),
    Effect.catchTag(ensured, "NodeUnavailable", ({ remedy }) =>
      Effect.logError(`satrail-ldk does not start. ${remedy ?? ""}`)
    )
  )

  return {
    ensured,
    kept: Effect.andThen(
      Effect.addFinalizer(() => stop),
      Worker.runOpen("satrail-ldk", watch, Effect.void)
    )
  }
}
