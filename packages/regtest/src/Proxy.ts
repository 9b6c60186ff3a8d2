import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"
import https from "node:https"
import type { Socket } from "node:net"
import path from "node:path"
import type { Lnd } from "./Lnd.ts"
import { RegtestFailed } from "./Process.ts"

/**
 * A fault injected into one call. `request`: the call never reaches the node. `answer`: the node executes the
 * call, but no byte of the response arrives. `middle`: the response is cut in the middle. `delayMillis`: the
 * response is delayed.
 */
export type Fault = { readonly lose: "request" | "answer" | "middle" } | { readonly delayMillis: number }

/** A proxy between us and a node. */
export interface Proxy {
  readonly url: string
  /** Breaks all connections, and refuses new ones until `mend` runs. */
  readonly cut: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
  /** Applies a fault to the next call whose path matches. */
  readonly fail: (call: RegExp, fault: Fault) => Effect.Effect<void>
  /** Returns the number of calls with a matching path that reached the node. */
  readonly count: (call: RegExp) => Effect.Effect<number>
}

/** Starts a proxy that presents the node's own TLS certificate. */
export const make = Effect.fnUntraced(function* (
  node: Lnd
): Effect.fn.Return<Proxy, RegtestFailed, Scope.Scope> {
  const cert = readFileSync(node.certificateFile)
  const key = readFileSync(path.join(node.folder, "tls.key"))
  const agent = new https.Agent({ keepAlive: true, ca: cert })
  const sockets = new Set<Socket>()
  const faults: Array<{ readonly call: RegExp; readonly fault: Fault }> = []
  const calls: Array<string> = []
  let isCut = false

  const takeFault = (path: string): Fault | undefined => {
    const at = faults.findIndex(({ call }) => call.test(path))
    return at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
  }

  const server = https.createServer({ cert, key, keepAlive: true }, (request, response) => {
    const path = request.url ?? ""
    const fault = takeFault(path)
    const lost = fault !== undefined && "lose" in fault ? fault.lose : undefined
    if (lost === "request") {
      request.socket.destroy()
      return
    }
    calls.push(path)
    const breakOff = () => response.socket?.destroy()
    const onward = https.request(
      new URL(path, node.url),
      { method: request.method, headers: { ...request.headers, host: new URL(node.url).host }, agent },
      (answer) => {
        if (lost === "answer") {
          answer.once("data", breakOff).once("end", breakOff)
          return
        }
        const pass = () => {
          if (response.destroyed) {
            answer.destroy()
            return
          }
          response.writeHead(answer.statusCode ?? 502, {
            "content-type": answer.headers["content-type"] ?? "application/json"
          })
          if (lost === "middle")
            answer.once("data", (bytes: Buffer) =>
              response.write(bytes.subarray(0, bytes.length / 2), breakOff)
            )
          else answer.pipe(response)
        }
        if (fault !== undefined && "delayMillis" in fault) setTimeout(pass, fault.delayMillis)
        else pass()
      }
    )
    onward.once("error", breakOff)
    // If one side closes its connection, close the connection to the other side too.
    response.once("close", () => onward.destroy())
    request.pipe(onward)
  })
  server.on("connection", (socket: Socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number, RegtestFailed>((resume) => {
      server.once("error", ({ message }) => resume(Effect.fail(new RegtestFailed({ message }))))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
        agent.destroy()
      })
  )

  return {
    url: `https://127.0.0.1:${port}`,
    cut: Effect.sync(() => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    }),
    mend: Effect.sync(() => {
      isCut = false
    }),
    fail: (call, fault) => Effect.sync(() => void faults.push({ call, fault })),
    count: (call) => Effect.sync(() => calls.filter((path) => call.test(path)).length)
  }
})
