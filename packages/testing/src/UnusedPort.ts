import { once } from "node:events"
import { connect, createServer } from "node:net"

/** A reserved port on the loopback interface. */
export interface UnusedPort {
  readonly port: number
  readonly release: () => void
}

/**
 * Reserves a port without listening on it. Connections to it are refused, and no other program can bind it
 * until you release it. The port is reserved by being the local end of an open connection. If it were simply
 * closed, another program could bind it.
 */
export const make = async (): Promise<UnusedPort> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server must have a TCP address")
  const socket = connect(address.port, "127.0.0.1")
  const [[accepted]] = await Promise.all([once(server, "connection"), once(socket, "connect")])
  const { localPort } = socket
  if (localPort === undefined) throw new Error("a connection has a port")
  for (const held of [server, socket, accepted]) held.unref()
  return {
    port: localPort,
    release: () => {
      server.close()
      socket.destroy()
      accepted.destroy()
    }
  }
}
