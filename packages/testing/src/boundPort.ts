import { once } from "node:events"
import type { Server } from "node:net"

/** Waits until a server listens on TCP, and returns its port. */
export const boundPort = async (server: Server): Promise<number> => {
  if (!server.listening) await once(server, "listening")
  const address = server.address()
  if (typeof address === "object" && address !== null) return address.port
  throw new Error("the server does not listen on TCP")
}
