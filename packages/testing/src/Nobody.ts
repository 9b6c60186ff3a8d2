import { once } from "node:events"
import { connect, createServer } from "node:net"

/** A port of this machine. */
export interface Nobody {
  readonly port: number
  readonly end: () => void
}

/**
 * A port at which nobody listens, so that a connection to it is refused, and nobody else on this machine begins to before it is given up: it is the near end of a
 * connection that stays. One that was listened at and closed is soon the next one's.
 */
export const make = async (): Promise<Nobody> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("who listens on TCP has an address of TCP")
  const socket = connect(address.port, "127.0.0.1")
  const [[accepted]] = await Promise.all([once(server, "connection"), once(socket, "connect")])
  const { localPort } = socket
  if (localPort === undefined) throw new Error("a connection has a port")
  for (const held of [server, socket, accepted]) held.unref()
  return {
    port: localPort,
    end: () => {
      server.close()
      socket.destroy()
      accepted.destroy()
    }
  }
}
