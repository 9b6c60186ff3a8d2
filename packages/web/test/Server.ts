import { Effect } from "effect"
import diagnostics from "node:diagnostics_channel"
import http from "node:http"
import https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import tls from "node:tls"
import * as Certificate from "./Certificate.ts"

export interface Server {
  readonly port: number
  /** The number of TCP connections, including those whose TLS handshake failed. */
  readonly connections: () => number
  /** The requests received so far. */
  readonly asked: ReadonlyArray<http.IncomingMessage>
}

export interface Options {
  /**
   * In these tests 127.0.0.2 is the address of a public server on the Internet, and 127.0.0.1 is the address of
   * an internal server. An internal server that needs the public server's port listens on 127.0.0.3, where no
   * other process uses the port.
   */
  readonly host?: "127.0.0.1" | "127.0.0.2" | "127.0.0.3"
  readonly port?: number
  readonly isSecure?: boolean
}

/** Starts a server, and stops it when the scope closes. */
export const serve = (
  answer: http.RequestListener,
  { host = "127.0.0.1", port = 0, isSecure = false }: Options = {}
) =>
  Effect.acquireRelease(
    Effect.callback<Server & { readonly stop: () => void }>((resume) => {
      const asked: Array<http.IncomingMessage> = []
      const sockets = new Set<Socket>()
      let connections = 0
      const listener: http.RequestListener = (request, response) => {
        asked.push(request)
        answer(request, response)
      }
      const server = isSecure
        ? https.createServer({ key: Certificate.key, cert: Certificate.certificate }, listener)
        : http.createServer(listener)
      server.on("connection", (socket: Socket) => {
        connections++
        sockets.add(socket)
        socket.on("error", () => socket.destroy()).once("close", () => sockets.delete(socket))
      })
      server.once("error", (error) => resume(Effect.die(error)))
      server.listen(port, host, () => {
        // The address of a server that listens on a port is an `AddressInfo`
        const { port } = server.address() as AddressInfo
        const stop = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resume(Effect.succeed({ port, connections: () => connections, asked, stop }))
      })
    }),
    ({ stop }) => Effect.sync(stop)
  )

/** Makes this process trust the tests' certificate. */
export const trusting = Effect.sync(() => tls.setDefaultCACertificates([Certificate.certificate]))
/** Makes this process trust only Node's own list of authorities again. */
export const doubting = Effect.sync(() => tls.setDefaultCACertificates(tls.getCACertificates("bundled")))

/** Counts the connections that this process attempts while `use` runs, including those that fail. */
export const counting = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let begun = 0
    const count = () => {
      begun++
    }
    diagnostics.subscribe("net.client.socket", count)
    return use.pipe(
      Effect.map((value) => ({ value, begun })),
      Effect.ensuring(Effect.sync(() => diagnostics.unsubscribe("net.client.socket", count)))
    )
  })
