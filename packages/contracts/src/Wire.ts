import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, request as http, type ServerResponse } from "node:http"
import { request as https } from "node:https"
import type { Socket } from "node:net"

/** What a caller gets instead of the node's own answer; `cut` loses the connection in the middle of it, `silence` never answers. */
export type Fault =
  | { readonly status: number; readonly type: string; readonly body: string; readonly location?: string }
  | "cut"
  | "silence"

/**
 * What stands between a service and its node on a bad day. Each of them is a thing that a proxy, a container of another program, or a network does; none
 * of them is a word of the node's.
 */
export const faults = {
  "a proxy that wants a password (401)": { status: 401, type: "text/html", body: "<h1>401 Authorization Required</h1>" },
  "a gateway that does not take the credentials (401, in JSON)": {
    status: 401,
    type: "application/json",
    body: '{"error":"unauthorized"}'
  },
  "a proxy that lets nobody in (403)": { status: 403, type: "application/json", body: '{"message":"Forbidden"}' },
  "a proxy that knows no such page (404)": { status: 404, type: "text/html", body: "<h1>404 Not Found</h1>" },
  "a gateway that knows no such path (404, in JSON)": {
    status: 404,
    type: "application/json",
    body: '{"timestamp":"2026-01-01T00:00:00Z","status":404,"error":"Not Found","path":"/"}'
  },
  "a proxy that breaks (500)": { status: 500, type: "application/json", body: '{"message":"Internal Server Error"}' },
  "a proxy whose node is away (502)": { status: 502, type: "text/html", body: "<h1>502 Bad Gateway</h1>" },
  "a proxy that has enough (429)": { status: 429, type: "text/plain", body: "Too Many Requests" },
  "a proxy that sends us elsewhere (302)": { status: 302, type: "text/plain", body: "", location: "https://elsewhere.invalid/" },
  "another program in the node's place (200, other JSON)": { status: 200, type: "application/json", body: '{"status":"ok","data":[]}' },
  "another program with nothing to say (200, empty)": { status: 200, type: "application/json", body: "" },
  "an empty list (200)": { status: 200, type: "application/json", body: "[]" },
  "an answer that is cut in the middle": "cut",
  "no answer within the deadline": "silence"
} as const satisfies Readonly<Record<string, Fault>>

/** A wire with a will of its own. */
export interface Wire {
  /** Where the node seems to be. */
  readonly url: string
  /** From the request with this number on (0: the next) every answer is `fault`; the node hears the request all the same, or does not. */
  readonly fail: (fault: Fault, from: number, isHeard: boolean) => Effect.Effect<void>
  /** As it was. Answers how many answers were replaced. */
  readonly mend: Effect.Effect<number>
}

const answer = (response: ServerResponse, fault: Fault): void => {
  if (fault === "silence") return
  if (fault === "cut") {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1000 }).write('{"result":{"sta')
    response.socket?.end()
    return
  }
  const { status, type, body, location } = fault
  response.writeHead(status, { "content-type": type, ...(location !== undefined && { location }) }).end(body)
}

/** Sends a request on to the node, and calls back with its answer; without one where the node is not reached. */
const forward = (target: URL, incoming: IncomingMessage, body: Buffer, answered: (node: IncomingMessage | undefined) => void): void => {
  const { host: _, connection: __, ...headers } = incoming.headers
  const url = new URL(incoming.url ?? "/", target)
  // The certificate is the adapter's to check; here it is a test's own node, on this machine.
  const outgoing = url.protocol === "https:" ? https(url, { rejectUnauthorized: false }) : http(url)
  outgoing.method = incoming.method ?? "GET"
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) outgoing.setHeader(name, value)
  outgoing.once("response", answered)
  outgoing.once("error", () => answered(undefined))
  outgoing.end(body)
}

/** A wire to a node at `url`, for as long as the scope is open. HTTP on our side, whatever the node speaks. */
export const make = (url: string): Effect.Effect<Wire, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const target = new URL(url)
    const sockets = new Set<Socket>()
    let failing: { readonly fault: Fault; readonly isHeard: boolean; left: number; replaced: number } | undefined

    const server = createServer((incoming, response) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.once("end", () => {
        const body = Buffer.concat(chunks)
        const now = failing
        if (now !== undefined && now.left-- <= 0) {
          now.replaced++
          if (!now.isHeard) return answer(response, now.fault)
          return forward(target, incoming, body, (node) => {
            if (node === undefined) return response.destroy()
            // To its end: the node has done what it was asked.
            return node.resume().once("close", () => answer(response, now.fault))
          })
        }
        return forward(target, incoming, body, (node) => {
          if (node === undefined) return response.destroy()
          response.writeHead(node.statusCode ?? 502, node.headers)
          node.pipe(response)
          return response.once("close", () => node.destroy())
        })
      })
    })
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    return {
      url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
      fail: (fault, from, isHeard) =>
        Effect.sync(() => {
          failing = { fault, isHeard, left: from, replaced: 0 }
        }),
      mend: Effect.sync(() => {
        const replaced = failing?.replaced ?? 0
        failing = undefined
        return replaced
      })
    }
  })
