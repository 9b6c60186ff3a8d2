import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"

/** How long a client may keep sending an unread body after the response. */
const patienceMillis = 1000

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>) {
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

/**
 * Adapts a web handler to a framework over `node:http`. Mount it before any middleware that reads the body.
 * `path` is the full path of the request with its query.
 */
export const nodeHandler =
  (handler: (request: Request) => Promise<Response>) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> => {
    const { method = "GET", headersDistinct } = incoming
    const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value])
    )
    const chunks = incoming.iterator({ destroyOnReturn: false })
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        const next = await chunks.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      }
    })
    const sent = method === "GET" || method === "HEAD" ? {} : { body, duplex: "half" as const }
    const answer = await handler(new Request(new URL(path, "http://localhost"), { method, headers, ...sent }))
    outgoing.writeHead(answer.status, [...answer.headers].flat())
    if (answer.body === null) {
      outgoing.end()
    } else {
      const reader = answer.body.getReader()
      outgoing.once("close", () => void reader.cancel().catch(() => {})) // the client has disconnected, so the stream ends
      await pipeline(chunksOf(reader), outgoing)
    }
    if (incoming.complete) return
    // Read and drop a refused body. Otherwise its connection counts as busy, and the server waits for it when
    // it closes.
    const cutOff = setTimeout(() => incoming.destroy(), patienceMillis)
    incoming.once("close", () => clearTimeout(cutOff))
    await chunks.return?.()
    incoming.resume()
  }
