import { boundPort } from "@satrail/testing/boundPort"
import { createConnection, createServer, type Socket } from "node:net"

/**
 * A route to a server that can be cut silently, as when the server's machine loses its network: nothing
 * passes, and neither end is notified.
 */
export interface Road {
  readonly port: number
  readonly close: () => void
  /** Data in flight when the route was closed is lost. Connections opened afterwards are not affected. */
  readonly open: () => void
  readonly end: () => void
}

export const to = async (port: number): Promise<Road> => {
  const sockets = new Set<Socket>()
  let isClosed = false
  const kept = (socket: Socket) => {
    sockets.add(socket)
    return socket.on("error", () => {}).once("close", () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    kept(near)
    if (isClosed) return
    const far = kept(createConnection(port, "127.0.0.1"))
    for (const [from, other] of [
      [near, far],
      [far, near]
    ] as const) {
      from.pipe(other, { end: false })
      from.once("close", () => {
        if (!isClosed) other.destroy()
      })
    }
  }).listen(0, "127.0.0.1")
  const drop = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: await boundPort(server),
    close: () => {
      isClosed = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    open: () => {
      drop()
      isClosed = false
    },
    end: () => {
      drop()
      server.close()
    }
  }
}
