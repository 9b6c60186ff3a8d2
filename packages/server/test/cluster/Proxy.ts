import { boundPort } from "@satrail/testing/boundPort"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"

/** A minimal load balancer for several processes of the service. */
export interface Proxy {
  readonly url: string
  readonly end: () => Promise<void>
}

/** How often each process is checked for readiness. */
const everyMillis = 100

/**
 * Forwards each request to a ready process, in turn. If nothing listens there, the request was not accepted
 * and goes to the next process. Other failures are not retried: the caller gets a 502.
 */
export const make = async (urls: () => ReadonlyArray<string>): Promise<Proxy> => {
  const ready = new Set(urls())
  const asked = new Set<string>()
  let turn = 0

  // A process that has not responded yet keeps its state, because on a busy machine all of them may be slow.
  const isReady = async (url: string): Promise<boolean> => {
    try {
      return (await fetch(`${url}/readyz`)).status === 200
    } catch {
      return false
    }
  }
  // Checks run independently, so that a slow process does not delay the detection of a stopping one.
  const look = async (url: string): Promise<void> => {
    if (asked.has(url)) return
    asked.add(url)
    if (await isReady(url)) ready.add(url)
    else ready.delete(url)
    asked.delete(url)
  }
  const looking = setInterval(
    () => new Set([...urls(), ...ready]).forEach((url) => void look(url)),
    everyMillis
  )

  const pass = (incoming: IncomingMessage, body: Uint8Array, outgoing: ServerResponse, tries = 0): void => {
    const url = [...ready][turn++ % Math.max(1, ready.size)]
    if (url === undefined || tries > 20) {
      outgoing.writeHead(502).end("no process is ready")
      return
    }
    const passed = request(
      url + incoming.url,
      { method: incoming.method, headers: incoming.headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
        answer.once("error", (error) => outgoing.destroy(error))
      }
    )
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
  return {
    url: `http://127.0.0.1:${await boundPort(server)}`,
    end: async () => {
      clearInterval(looking)
      server.close()
      server.closeAllConnections()
    }
  }
}
