import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, request as http, type ServerResponse } from "node:http"
import { request as https } from "node:https"
import type { Socket } from "node:net"

/**
 * The response that replaces the node's. `cut` closes the connection in the middle of the response; `silence`
 * never responds.
 */
export type Fault =
  | { readonly status: number; readonly type: string; readonly body: string; readonly location?: string }
  | "cut"
  | "silence"

/**
 * Faults between a service and its node. Each is caused by a proxy, another program's container, or the
 * network. None is a response from the node.
 */
export const faults = {
  "a proxy that requires a password (401)": {
    status: 401,
    type: "text/html",
    body: "<h1>401 Authorization Required</h1>"
  },
  "a gateway that rejects the credentials (401, JSON)": {
    status: 401,
    type: "application/json",
    body: '{"error":"unauthorized"}'
  },
  "a proxy that denies access (403)": {
    status: 403,
    type: "application/json",
    body: '{"message":"Forbidden"}'
  },
  "a proxy without this page (404)": { status: 404, type: "text/html", body: "<h1>404 Not Found</h1>" },
  "a gateway without this path (404, JSON)": {
    status: 404,
    type: "application/json",
    body: '{"timestamp":"2026-01-01T00:00:00Z","status":404,"error":"Not Found","path":"/"}'
  },
  "a proxy that fails (500)": {
    status: 500,
    type: "application/json",
    body: '{"message":"Internal Server Error"}'
  },
  "a proxy that cannot reach the node (502)": {
    status: 502,
    type: "text/html",
    body: "<h1>502 Bad Gateway</h1>"
  },
  "a proxy that limits the rate (429)": { status: 429, type: "text/plain", body: "Too Many Requests" },
  "a proxy that redirects elsewhere (302)": {
    status: 302,
    type: "text/plain",
    body: "",
    location: "https://elsewhere.invalid/"
  },
  "another program in place of the node (200, other JSON)": {
    status: 200,
    type: "application/json",
    body: '{"status":"ok","data":[]}'
  },
  "another program in place of the node (200, empty)": { status: 200, type: "application/json", body: "" },
  "an empty list (200)": { status: 200, type: "application/json", body: "[]" },
  "a truncated response": "cut",
  "no response within the deadline": "silence"
} as const satisfies Readonly<Record<string, Fault>>

/** A proxy that can inject faults. */
export interface Wire {
  /** The proxy's address, in place of the node's. */
  readonly url: string
  /**
   * Replaces every response with `fault`, starting at request number `from`, where 0 is the next request.
   * `isHeard` determines whether the node still receives those requests.
   */
  readonly fail: (fault: Fault, from: number, isHeard: boolean) => Effect.Effect<void>
  /** Ends the fault. Returns the number of replaced responses. */
  readonly mend: Effect.Effect<number>
}

const answer = (response: ServerResponse, fault: Fault): void => {
  if (fault === "silence") return
  if (fault === "cut") {
    response
      .writeHead(200, { "content-type": "application/json", "content-length": 1000 })
      .write('{"result":{"sta')
    response.socket?.end()
    return
  }
  const { status, type, body, location } = fault
  response.writeHead(status, { "content-type": type, ...(location !== undefined && { location }) }).end(body)
}

/**
 * Forwards a request to the node, and calls `answered` with the response, or with undefined if the node is
 * unreachable.
 */
const forward = (
  target: URL,
  incoming: IncomingMessage,
  body: Buffer,
  answered: (node: IncomingMessage | undefined) => void
): void => {
  const { host: _, connection: __, ...headers } = incoming.headers
  const url = new URL(incoming.url ?? "/", target)
  // Certificates are checked by the adapter. This node is run by the test, on this machine.
  const outgoing = url.protocol === "https:" ? https(url, { rejectUnauthorized: false }) : http(url)
  outgoing.method = incoming.method ?? "GET"
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) outgoing.setHeader(name, value)
  outgoing.once("response", answered)
  outgoing.once("error", () => answered(undefined))
  outgoing.end(body)
}

/**
 * Opens a proxy to the node at `url`, for as long as the scope is open. The proxy serves plain HTTP, even if
 * the node uses HTTPS.
 */
export const make = (url: string): Effect.Effect<Wire, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const target = new URL(url)
    const sockets = new Set<Socket>()
    let failing:
      | { readonly fault: Fault; readonly isHeard: boolean; left: number; replaced: number }
      | undefined

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
            // Read the node's response to its end, so that the node has completed the request.
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
