import { Effect, type Scope } from "effect"
import { rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import * as Process from "./Process.ts"
import path from "node:path"

/** A proxy for a Unix socket. It can cut connections and lose responses. */
export interface Wire {
  readonly socket: string
  /** Breaks all connections, and refuses new ones until `mend` runs. */
  readonly cut: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
  /** Delivers the next request that contains this text, but loses its response. */
  readonly loseAnswer: (request: string) => Effect.Effect<void>
}

/** Opens a proxy for a socket until the scope closes. */
export const make: (to: string) => Effect.Effect<Wire, Process.RegtestFailed, Scope.Scope> =
  Effect.fnUntraced(function* (to: string) {
    const socket = path.join(yield* Process.folder, "w")
    const connections = new Set<Socket>()
    let lost: string | undefined
    const server = createServer((here) => {
      const there = connect(to)
      const both = [here, there]
      const end = () => {
        for (const one of both) {
          one.destroy()
          connections.delete(one)
        }
      }
      let isLost = false
      for (const one of both) {
        connections.add(one)
        one.once("error", end).once("close", end)
      }
      here.on("data", (bytes) => {
        if (lost !== undefined && bytes.includes(lost)) {
          lost = undefined
          isLost = true
        }
        there.write(bytes)
      })
      there.on("data", (bytes) => (isLost ? end() : here.write(bytes)))
    })
    const listen = Effect.callback<void>((resume) => void server.listen(socket, () => resume(Effect.void)))
    const cut = Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      for (const one of connections) one.destroy()
      rmSync(socket, { force: true })
    })
    yield* Effect.acquireRelease(listen, () => Effect.sync(() => server.close()))
    yield* Effect.addFinalizer(() => Effect.sync(() => connections.forEach((one) => one.destroy())))
    return {
      socket,
      cut,
      mend: listen,
      loseAnswer: (request) => Effect.sync(() => void (lost = request))
    }
  })
