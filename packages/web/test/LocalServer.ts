import { Effect } from "effect"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"

/**
 * Starts a WebSocket server on a free local port and stops it when the scope closes. The caller decides what
 * the server sends.
 */
export const make = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new WebSocketServer({ host: "127.0.0.1", port: 0 })
      await once(made, "listening")
      return made
    }),
    (made) =>
      Effect.promise(async () => {
        for (const client of made.clients) client.terminate()
        made.close()
        await once(made, "close")
      })
  ),
  // A TCP server's address is an `AddressInfo`.
  (server) => ({ server, port: (server.address() as AddressInfo).port })
)
