import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"

/** A web handler for a framework over `node:http`. Nothing may have read the body before it. `path` is the whole path of the request, with its query. */
export const nodeHandler =
  (handler: (request: Request) => Promise<Response>) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> => {
    const { method = "GET", headersDistinct } = incoming
    const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]))
    const body = method === "GET" || method === "HEAD" ? {} : { body: Readable.toWeb(incoming), duplex: "half" as const }
    const answer = await handler(new Request(new URL(path, "http://localhost"), { method, headers, ...body }))
    outgoing.writeHead(answer.status, [...answer.headers].flat())
    await pipeline(answer.body ?? [], outgoing)
  }
