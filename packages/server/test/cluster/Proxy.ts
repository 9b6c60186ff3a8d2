import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

/** What stands before several processes of the service, as small as it can be. */
export interface Proxy {
  readonly url: string
  readonly end: () => Promise<void>
}

/** How often each process is asked whether it is ready. */
const everyMillis = 100

/**
 * Passes each request to one of those that are ready, in turn, and to the next one when nobody listens there: then it was not taken, and that is the
 * only case in which it is tried again. Whatever else goes wrong is the caller's to see, as 502.
 */
export const make = async (urls: () => ReadonlyArray<string>): Promise<Proxy> => {
  const ready = new Set(urls())
  const asked = new Set<string>()
  let turn = 0

  // Who has not answered yet is as he was: on a busy machine that may be all of them.
  const isReady = async (url: string): Promise<boolean> => {
    try {
      return (await fetch(`${url}/readyz`)).status === 200
    } catch {
      return false
    }
  }
  // Each on its own: who is slow to answer keeps nobody from hearing that another is being stopped.
  const look = async (url: string): Promise<void> => {
    if (asked.has(url)) return
    asked.add(url)
    if (await isReady(url)) ready.add(url)
    else ready.delete(url)
    asked.delete(url)
  }
  const looking = setInterval(() => new Set([...urls(), ...ready]).forEach((url) => void look(url)), everyMillis)

  const pass = (incoming: IncomingMessage, body: Uint8Array, outgoing: ServerResponse, tries = 0): void => {
    const url = [...ready][turn++ % Math.max(1, ready.size)]
    if (url === undefined || tries > 20) {
      outgoing.writeHead(502).end("nobody is ready")
      return
    }
    const passed = request(url + incoming.url, { method: incoming.method, headers: incoming.headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
      answer.once("error", (error) => outgoing.destroy(error))
    })
    passed.once("error", (error) => {
      if ("code" in error && error.code === "ECONNREFUSED") pass(incoming, body, outgoing, tries + 1)
      else if (outgoing.headersSent) outgoing.destroy(error)
      else outgoing.writeHead(502).end(error.message)
    })
    passed.end(body)
  }

  const server = createServer((incoming, outgoing) => {
    buffer(incoming).then(
      (body) => pass(incoming, body, outgoing),
      (cause: unknown) => outgoing.destroy(cause instanceof Error ? cause : new Error(String(cause)))
    )
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    // It listens on TCP, so its address is one of TCP.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    end: async () => {
      clearInterval(looking)
      server.close()
      server.closeAllConnections()
    }
  }
}
