import { once } from "node:events"
import { createServer } from "node:net"

/**
 * Returns a port that was free a moment ago. Another program may bind it first, so the caller must be prepared
 * for its own program failing to start.
 */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (typeof address === "object" && address !== null) return address.port
  throw new Error("no free port")
}
