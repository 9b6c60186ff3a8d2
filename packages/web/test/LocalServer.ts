import { Effect } from "effect"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"

/** A WebSocket server on a free port of this machine, for as long as the scope is open. What it says to whom is the caller's. */
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
        await new Promise<void>((resolve) => {
          made.close(() => resolve())
        })
      })
  ),
  // It listens on TCP, so its address is one of TCP.
  (server) => ({ server, port: (server.address() as AddressInfo).port })
)
