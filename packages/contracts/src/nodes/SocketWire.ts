import { Effect, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Fault, Wire } from "./Wire.ts"

// A fault-injecting proxy for a node that exchanges lines over a Unix socket. Each request has its own
// connection, and request and response are one line each.

/** Sends the fault's response in place of the node's, as one line. */
const answer = (connection: Socket, fault: Fault): void => {
  if (fault === "silence") return
  if (fault === "cut") connection.end('{"id":1,"result":{"sta')
  else connection.end(`${fault.body}\n`)
}

/**
 * Forwards a request to the node, and calls `answered` with the response, or with undefined if the node is
 * unreachable.
 */
const forward = (target: string, request: string, answered: (line: string | undefined) => void): Socket => {
  const there = connect(target).setEncoding("utf8")
  let text = ""
  there.once("connect", () => there.write(request))
  there.on("data", (data: string) => {
    text += data
    if (text.endsWith("\n")) there.end()
  })
  there.once("error", () => undefined) // the `close` event follows
  there.once("close", () => answered(text.endsWith("\n") ? text : undefined))
  return there
}

/**
 * Opens a proxy to the node whose socket has this path, for as long as the scope is open. Its `url` is the path
 * of another socket.
 */
export const make = (target: string): Effect.Effect<Wire, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-wire-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const url = path.join(folder, "s")
    const sockets = new Set<Socket>()
    const kept = (socket: Socket) => {
      sockets.add(socket)
      return socket.once("close", () => sockets.delete(socket))
    }
    let failing:
      | { readonly fault: Fault; readonly isHeard: boolean; left: number; replaced: number }
      | undefined

    const take = (here: Socket, request: string) => {
      const now = failing
      const isFaulty = now !== undefined && now.left-- <= 0
      if (isFaulty) now.replaced++
      if (isFaulty && !now.isHeard) return answer(here, now.fault)
      return kept(
        forward(target, request, (line) => {
          if (line === undefined) here.destroy()
          else if (isFaulty) answer(here, now.fault)
          else here.end(line)
        })
      )
    }
    const server = createServer((here) => {
      kept(here).setEncoding("utf8")
      let text = ""
      here.once("error", () => here.destroy())
      here.on("data", (data: string) => {
        text += data
        if (text.endsWith("\n")) take(here, text)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(url, () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    return {
      url,
      fail: (fault, from, isHeard) =>
        Effect.sync(() => void (failing = { fault, isHeard, left: from, replaced: 0 })),
      mend: Effect.sync(() => {
        const replaced = failing?.replaced ?? 0
        failing = undefined
        return replaced
      })
    }
  })
