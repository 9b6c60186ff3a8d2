import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/**
 * Maximum number of pipelined requests that wait in the process, each with 2 kB of memory. One read of a
 * connection has at most 3,600, so that a single client cannot reach this number.
 */
export const maxWaiting = 16_384

/** Stops reading a connection. Also prevents Node from resuming, which it does after each response. */
export const stopReading = (socket: Duplex): void => {
  socket.pause()
  socket.resume = () => socket
}

const startReading = (socket: Duplex): void => {
  Reflect.deleteProperty(socket, "resume")
  socket.resume()
}

/**
 * Begins the requests that a client sends without waiting for responses one after another, each when the response
 * before it has been sent. They may depend on each other (RFC 9112, section 9.3.2), and otherwise each read would
 * begin thousands. While requests wait, their connection is not read.
 */
export const make = (begin: (request: IncomingMessage, response: ServerResponse, event: string) => void) => {
  const queues = new Map<Duplex, Set<ServerResponse>>()
  let count = 0

  /** Forgets the requests that wait on a connection. */
  const forget = (socket: Duplex): void => {
    const queue = queues.get(socket)
    count -= queue?.size ?? 0
    queue?.clear()
    queues.delete(socket)
  }

  /** Closes the connection on which the most requests wait. */
  const closeLongest = (): void => {
    const [longest] = [...queues].reduce((one, other) => (other[1].size > one[1].size ? other : one))
    forget(longest)
    longest.destroy()
  }

  const wait = (request: IncomingMessage, response: ServerResponse, event: string): void => {
    const { socket } = request
    const queue = queues.get(socket) ?? new Set()
    if (queue.size === 0) stopReading(socket)
    queues.set(socket, queue.add(response))
    count++
    // Node assigns the connection to a response when the response before it has been sent.
    response.once("socket", () => {
      if (!queue.delete(response)) return
      count--
      if (queue.size === 0) {
        queues.delete(socket)
        startReading(socket)
      }
      begin(request, response, event)
    })
    if (count > maxWaiting) closeLongest()
  }

  /** Returns the response to the last complete request that waits on a connection. */
  const lastOf = (socket: Duplex): ServerResponse | undefined =>
    [...(queues.get(socket) ?? [])].findLast(({ req }) => req.complete)

  return { wait, lastOf, forget }
}
