import * as Errors from "@satrail/http/Errors"
import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerOptions, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** How long whoever is refused gets to read why: a connection that is ended at once may take its last bytes with it. */
const partingMillis = 500

/** What Node could not read, told as the API tells everything. Node would answer it with an empty body. */
const refusalOf = (error: Error): Errors.Failure => {
  switch ("code" in error ? error.code : undefined) {
    case "HPE_HEADER_OVERFLOW":
      return Errors.failure("headers_too_large", `The headers have more than ${maxHeaderSize} bytes`)
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return Errors.failure("body_too_large", "The chunks of the body are described at too great a length")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return Errors.failure("request_timeout", "The request did not arrive in time")
    default:
      return Errors.malformedRequest([{ path: "", message: "This is not an HTTP request that can be read" }])
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large"
}

const headersOf = (text: string) => ({
  "Content-Type": "application/json",
  "Content-Length": Buffer.byteLength(text),
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  Connection: "close"
})

/**
 * A server of Node's that answers with an envelope also what never becomes a request, and that can end: Node keeps a connection that is
 * busy when it closes, and whoever asks without a pause would be served for ever.
 */
export const make = (options: ServerOptions = {}): Server => {
  const server = createServer(options)
  const current = new WeakMap<Duplex, ServerResponse>()
  const whenAnswered = () => {
    if (!server.listening) server.closeIdleConnections()
  }
  const whenAsked = (request: IncomingMessage, response: ServerResponse) => {
    current.set(request.socket, response)
    response.once("close", whenAnswered)
  }
  const whenUnreadable = (error: Error, socket: Duplex) => {
    const response = current.get(socket)
    // Into an answer that is on its way nothing can be written.
    if (!socket.writable || (response !== undefined && response.headersSent && !response.writableFinished)) {
      socket.destroy()
      return
    }
    const refusal = refusalOf(error)
    const text = JSON.stringify(refusal)
    const head = Object.entries(headersOf(text)).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? ""}\r\n${head.join("")}\r\n${text}`)
    setTimeout(() => socket.destroy(), partingMillis).unref()
  }
  return server
    .on("request", whenAsked)
    .on("checkContinue", whenAsked)
    .on("checkExpectation", (_, response) => {
      const text = JSON.stringify(Errors.failure("expectation_failed", "The only expectation that is met is 100-continue"))
      response.writeHead(417, headersOf(text)).end(text)
    })
    .on("clientError", whenUnreadable)
}
