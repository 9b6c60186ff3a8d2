import type { Socket } from "node:net"

/**
 * Interval between two checks. A client that reads nothing of a response between two of them loses its
 * connection. A slow client is not affected, however long the response takes.
 */
export const stalledMillis = 60_000

/**
 * Returns how many bytes of its responses the system has accepted for a connection, from an internal field of
 * Node: its other numbers change only when a write is complete, and one write can have megabytes. Undefined if
 * no bytes wait.
 */
const acceptedOf = (socket: Socket): number | undefined => {
  const handle: unknown = Reflect.get(socket, "_handle")
  if (socket.writableLength === 0 || typeof handle !== "object" || handle === null) return undefined
  return Number(Reflect.get(handle, "bytesWritten")) - Number(Reflect.get(handle, "writeQueueSize"))
}

/**
 * Returns a check that ends the connections whose client has read nothing of a response since the last check.
 * Otherwise such a client would keep the response, and its place in a limit, until TCP gives up.
 */
export const make = (sockets: Iterable<Socket>): (() => void) => {
  let before = new Map<Socket, number>()
  return () => {
    const now = new Map<Socket, number>()
    for (const socket of sockets) {
      const accepted = acceptedOf(socket)
      if (accepted === undefined) continue
      if (before.get(socket) === accepted) socket.destroy()
      else now.set(socket, accepted)
    }
    before = now
  }
}
