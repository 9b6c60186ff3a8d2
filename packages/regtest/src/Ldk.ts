import { Effect, Redacted, Schema, type Scope } from "effect"
import { readFileSync, statSync } from "node:fs"
import { connect } from "node:net"
import path from "node:path"
import * as Binaries from "./Binaries.ts"
import { Chain } from "./Chain.ts"
import * as Process from "./Process.ts"

/** An LDK node for tests: satrail's own node program, running on the test chain. */
export interface Ldk {
  readonly name: string
  readonly nodeId: string
  /** The node's address for connections from other nodes. */
  readonly p2p: string
  /** The socket on which the node accepts requests. `store` is the folder with its keys and state. */
  readonly socket: string
  readonly store: string
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
  /** Restarts the node with these additional environment variables, and waits until it accepts requests. */
  readonly start: (env?: Readonly<Record<string, string>>) => Effect.Effect<void, Process.RegtestFailed>
  /** Calls the node as its owner. */
  readonly ask: <A>(
    method: string,
    params: object,
    result: Schema.Codec<A, unknown>
  ) => Effect.Effect<A, Process.RegtestFailed>
  /** Starts another process on the node's store. When that process exits, fails with its output. */
  readonly second: Effect.Effect<never, Process.RegtestFailed>
  /** Fails as soon as the node exits by itself. */
  readonly died: Effect.Effect<never, Process.RegtestFailed>
}

const Answer = Schema.Union([
  Schema.Struct({ id: Schema.Int, error: Schema.Struct({ code: Schema.String, message: Schema.String }) }),
  Schema.Struct({ id: Schema.Int, result: Schema.Unknown })
])

const line = (socket: string, request: object): Effect.Effect<string, Process.RegtestFailed> =>
  Effect.callback((resume) => {
    const connection = connect(socket)
    const failed = (message: string) =>
      resume(Effect.fail(new Process.RegtestFailed({ message: `ldk: ${message}` })))
    let text = ""
    connection.setEncoding("utf8")
    connection.once("error", ({ message }) => failed(message))
    connection.on("data", (data: string) => {
      text += data
      if (!text.endsWith("\n")) return
      connection.destroy()
      resume(Effect.succeed(text))
    })
    connection.once("close", () => failed("no answer"))
    connection.once("connect", () => connection.write(`${JSON.stringify(request)}\n`))
    return Effect.sync(() => connection.destroy())
  })

/** Returns the process id of the node that uses a store, which is found by the store's lock. */
export const ownerOf = (store: string): number | undefined => {
  const { ino } = statSync(path.join(store, "lock"))
  const lock = readFileSync("/proc/locks", "utf8")
    .split("\n")
    .find((line) => line.includes("FLOCK") && line.includes(`:${ino} `))
  return lock === undefined ? undefined : Number(lock.trim().split(/\s+/)[4])
}

const Run = Schema.Struct({ run: Schema.String })

/** Returns a function that calls a node as its owner. The node may have been started by any process. */
export const asking =
  (socket: string): Ldk["ask"] =>
  (method, params, result) =>
    Effect.gen(function* () {
      const once = Effect.fnUntraced(function* <B>(request: object, shape: Schema.Codec<B, unknown>) {
        const answer = yield* Schema.decodeEffect(Schema.fromJsonString(Answer))(
          yield* line(socket, { id: 1, ...request })
        )
        if ("error" in answer)
          return yield* new Process.RegtestFailed({ message: `ldk, ${method}: ${answer.error.message}` })
        return yield* Schema.decodeUnknownEffect(shape)(answer.result)
      })
      const { run } = yield* once({ method: "hello", params: {} }, Run)
      return yield* once({ method, run, params }, result)
    }).pipe(Effect.mapError(({ message }) => new Process.RegtestFailed({ message })))

const Here = Schema.Struct({ node: Schema.String, started: Schema.Boolean })

/**
 * Creates a node without channels, which follows the chain directly or through an Esplora server. The node's
 * program runs and accepts requests, but the node is not started. To start it, the caller must pass the last
 * progress that the caller has seen in the node's store.
 */
export const make: (
  name: string,
  esplora?: string
) => Effect.Effect<Ldk, Process.RegtestFailed, Chain | Scope.Scope> = Effect.fnUntraced(function* (
  name: string,
  esplora?: string
) {
  const chain = yield* Chain
  const command = yield* Binaries.ensure("ldk")
  const folder = yield* Process.folder
  const store = path.join(folder, "store")
  const socket = path.join(folder, "s")
  const p2p = `127.0.0.1:${yield* Process.freePort}`
  const bitcoind = new URL(chain.url)
  bitcoind.username = chain.user
  bitcoind.password = Redacted.value(chain.password)
  const env = {
    LDK_STORE: store,
    LDK_SOCKET: socket,
    LDK_NETWORK: "regtest",
    ...(esplora === undefined ? { LDK_BITCOIND: bitcoind.href } : { LDK_ESPLORA: esplora }),
    LDK_LISTEN: p2p,
    LDK_ALIAS: name,
    LDK_LOG: "info"
  }
  const ask = asking(socket)
  let more: Readonly<Record<string, string>> = {}
  const running = yield* Process.make({
    name: "ldk",
    command,
    args: [],
    folder,
    env: () => ({ ...env, ...more })
  })
  const start = Effect.fnUntraced(function* (besides: Readonly<Record<string, string>> = {}) {
    more = besides
    yield* running.start
    return yield* Effect.raceFirst(Process.until(`${name} answers`, ask("hello", {}, Here)), running.died)
  })
  const { node } = yield* start()
  return {
    name,
    nodeId: node,
    p2p,
    socket,
    store,
    stop: running.stop,
    start: (more) => Effect.asVoid(start(more)),
    ask,
    second: Effect.scoped(
      Effect.gen(function* () {
        const other = yield* Process.make({
          name: "second",
          command,
          args: [],
          folder,
          env: () => ({ ...env, LDK_SOCKET: `${socket}2` })
        })
        yield* other.start
        return yield* other.died
      })
    ),
    died: running.died
  }
})
