import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import { createServer } from "node:http"
import type { Socket } from "node:net"

/** A simulated server's response. Undefined means that the server never responds. */
export type Answer = { readonly status: number; readonly body: string | Buffer } | undefined

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/** An HTTP server on a free loopback port. */
export const serve = async (answer: (asked: Asked) => Answer) => {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request
      const answered = answer({ method, path, headers, body: Buffer.concat(parts).toString("utf8") })
      if (answered !== undefined) response.writeHead(answered.status).end(answered.body)
    })
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  const port = await boundPort(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), "close")
    }
  }
}
export type Server = Awaited<ReturnType<typeof serve>>

export const json = (body: unknown, status = 200): Answer => ({ status, body: JSON.stringify(body) })
