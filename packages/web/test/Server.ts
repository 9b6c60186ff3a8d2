import { Effect } from "effect"
import diagnostics from "node:diagnostics_channel"
import http from "node:http"
import https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import tls from "node:tls"
import * as Certificate from "./Certificate.ts"

export interface Server {
  readonly port: number
  /** The number of connections, whether or not they succeeded. */
  readonly connections: () => number
  /** The requests, with their lines and headers. */
  readonly asked: ReadonlyArray<http.IncomingMessage>
}

export interface Options {
  /**
   * In these tests 127.0.0.2 stands for a public server on the Internet and 127.0.0.1 for an internal one. An
   * internal server that needs the same port is on 127.0.0.3, where no other process takes it.
   */
  readonly host?: "127.0.0.1" | "127.0.0.2" | "127.0.0.3"
  readonly port?: number
  readonly isSecure?: boolean
}

/** Starts a server until the scope closes. */
export const serve = (answer: http.RequestListener, { host = "127.0.0.1", port = 0, isSecure = false }: Options = {}) =>
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
        // A server that listens on a port has one
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

/** Counts every connection that this process attempts while `use` runs, whether or not it succeeds. */
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
