import { connect } from "node:net"

/** One keep-alive connection to this machine. One request at a time: pipelining would hide what a client waits for. */
export interface Connection {
  /** Sends a whole request. The last one must have been answered. */
  readonly send: (request: string) => void
  readonly close: () => void
}

/** The state of a connection. */
export interface Listener {
  /** `opening` is how the body begins. */
  readonly onAnswer: (status: number, opening: string) => void
  /** The server hung up, or answered what cannot be read. Nothing follows. */
  readonly onBroken: (why: string) => void
}

const headEnd = "\r\n\r\n"

/** Enough of a body to tell an error by. */
const openingBytes = 200

/** HTTP/1.1 with a Content-Length, and no more: a full client costs more than the servers that are measured with it. */
export const open = (port: number, listener: Listener): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    let head: Buffer = Buffer.alloc(0)
    let missingBytes: number | undefined // of the body; undefined as long as the head is not complete
    let status = 0
    let opening: Buffer = Buffer.alloc(0)
    let closed = false

    const broken = (why: string) => {
      if (closed) return
      closed = true
      socket.destroy()
      listener.onBroken(why)
    }

    socket.on("data", (chunk) => {
      if (missingBytes === undefined) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
        const end = head.indexOf(headEnd)
        if (end < 0) return
        const text = head.toString("latin1", 0, end)
        const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
        if (length === undefined) return broken("an answer without a Content-Length")
        status = Number(text.slice(9, 12))
        opening = head.subarray(end + headEnd.length)
        missingBytes = Number(length) - opening.length
        head = Buffer.alloc(0)
      } else {
        if (opening.length < openingBytes) opening = Buffer.concat([opening, chunk])
        missingBytes -= chunk.length
      }
      if (missingBytes > 0) return
      if (missingBytes < 0) return broken("an answer longer than its Content-Length")
      missingBytes = undefined
      listener.onAnswer(status, opening.toString("latin1", 0, openingBytes))
    })
    socket.on("close", () => broken("the server closed the connection"))
    socket.once("error", (error) => {
      reject(error)
      broken(error.message)
    })
    socket.once("connect", () =>
      resolve({
        send: (request) => socket.write(request),
        close: () => {
          closed = true
          socket.destroy()
        }
      })
    )
  })
