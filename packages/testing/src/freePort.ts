import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"

/**
 * The ports to choose from. They are below the ephemeral ports, which the system gives away at any time: to
 * outgoing connections, and to servers that let it choose.
 */
export const [firstPort, ports] = [10_240, 11_264]

const tries = 100

/**
 * Reserves a port until this process exits, however it exits. The system allows a UDP port to only one process.
 * The UDP port is a different number, because some programs use UDP on the port that they listen on.
 */
const reserves = async (port: number): Promise<boolean> => {
  const lock = createSocket("udp4").bind({ port: port + ports, address: "127.0.0.1", exclusive: true })
  lock.unref()
  return once(lock, "listening").then(
    () => true,
    () => false
  )
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
  } catch {
    return false
  }
  server.close()
  await once(server, "close")
  return true
}

/**
 * Returns a port on which nothing listens. No other caller in any process gets this port before this process
 * exits. It isn't enough that the port is unused now, because others may find it unused too, and listen first.
 */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < tries; tried++) {
    const port = firstPort + Math.floor(Math.random() * ports)
    if ((await reserves(port)) && (await isFree(port))) return port
  }
  throw new Error(`no free port was found between ${firstPort} and ${firstPort + ports - 1}`)
}
