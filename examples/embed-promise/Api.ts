import { Authentication, Http, Readiness } from "@satrail/service/http"
import { Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Payments } from "./Payments.ts"

/** The service's HTTP interface, for a Node server at `/v1`. */
export const mount = async (payments: Payments) => {
  const { handler, dispose } = Http.webHandler(
    Http.layer().pipe(
      Layer.provide(Layer.succeedContext(await payments.context())),
      // no operator routes over HTTP, because the shop opens companies in its own code
      Layer.provide(Layer.succeed(Authentication.OperatorToken, undefined)),
      Layer.provide(Layer.succeed(Readiness.Readiness, []))
    )
  )
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/", headersDistinct } = request
    const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value])
    )
    // The types of Node's stream and of the browser's differ.
    const stream = Readable.toWeb(request) as unknown as ReadableStream
    const body = method === "GET" || method === "HEAD" ? {} : { body: stream, duplex: "half" as const }
    const answered = await handler(
      new Request(new URL(url, "http://localhost"), { method, headers, ...body })
    )
    response.writeHead(answered.status, [...answered.headers].flat())
    await pipeline(answered.body ?? [], response)
  }
  return { answer, dispose }
}
