import * as Pool from "@satrail/core/base/Pool"
import * as Errors from "@satrail/http/wire/Errors"
import * as RequestId from "@satrail/http/edge/RequestId"
import { IncomingMessage, maxHeaderSize, Server, type ServerOptions, ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** How long a refused client may read the reason: a connection that is ended at once may take its last bytes with it. */
const partingMillis = 500

/** How many headers a request may have. One that has more is refused by Node, as one whose headers are too long. */
export const maxHeaders = 200

/** How long the headers of a request may take to arrive, and how often connections are looked at whose have not. */
export const headersMillis = 20_000
const lateMillis = 5_000

/** How many connections there may be, whether callers connect to us directly, and a callback for when one was ended because of the limit. */
export interface Limits {
  readonly maxConnections: number
  /** Behind a proxy all connections are the proxy's: they are not shared out, and one too many is ended. */
  readonly isDirect: boolean
  readonly whenFull: () => void
}

/** One address has an eighth of all connections. */
export const sharesOf = (most: number): Pool.Shares => ({ most, perCaller: Math.ceil(most / 8), per: {} })

/** For each connection above the limit, ends the least recently used one of the largest holder. */
const share = (listener: Server, { maxConnections, whenFull }: Limits): void => {
  const pool = Pool.make<Socket>(sharesOf(maxConnections))
  listener.on("connection", (socket: Socket) => {
    for (const other of pool.take({ caller: socket.remoteAddress ?? "", of: {} }, socket)) {
      other.destroy()
      whenFull()
    }
    socket.once("close", () => pool.release(socket))
  })
  listener.on("request", ({ socket }: IncomingMessage) => pool.touch(socket))
}

/** How often, while it closes, the connections are looked at that have become idle. */
const sweepMillis = 20

/** What Node could not parse, in the API's envelope. Node would answer it with an empty body. */
const refusalOf = (error: Error): Errors.Failure => {
  switch ("code" in error ? error.code : undefined) {
    case "HPE_HEADER_OVERFLOW":
      return Errors.failure("headers_too_large", `The headers have more than ${maxHeaderSize} bytes, or there are more than ${maxHeaders}`)
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
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large"
}

/** A refusal as it is sent, with its headers. */
const written = (refusal: Errors.Failure, requestId: string, publicUrl: string | undefined) => {
  const text = JSON.stringify(Errors.addressed(refusal, requestId, publicUrl))
  return { text, headers: { ...headersOf(text), "X-Request-Id": requestId } }
}

const headersOf = (text: string) => ({
  "Content-Type": "application/json",
  "Content-Length": Buffer.byteLength(text),
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  Connection: "close"
})

/** The answer that a connection is busy with. Node keeps it there for itself; noting each of them beside it took a fifth of a request. */
const currentOf = (socket: Duplex): ServerResponse | undefined =>
  "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse ? socket._httpMessage : undefined

interface Refusal {
  readonly failure: Errors.Failure
  /** The id that came with it, where it could be read that far. */
  readonly requestId?: string | ReadonlyArray<string> | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const refuse = (socket: Duplex, { failure: refusal, requestId, headers: more }: Refusal, publicUrl: string | undefined) => {
  const { text, headers } = written(refusal, RequestId.of(requestId), publicUrl)
  const head = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? ""}\r\n${head.join("")}\r\n${text}`)
  setTimeout(() => socket.destroy(), partingMillis).unref()
}

const whenUnreadable = (publicUrl: string | undefined) => (error: Error, socket: Duplex) => {
  const response = currentOf(socket)
  // The malformed bytes came behind a whole request: that one takes effect, and its caller gets its response.
  if (response !== undefined && response.req.complete && !response.writableFinished) {
    response.shouldKeepAlive = false
    response.once("finish", () => socket.end())
    return
  }
  // Into an answer that is on its way nothing can be written.
  if (!socket.writable || (response !== undefined && response.headersSent && !response.writableFinished)) {
    socket.destroy()
    return
  }
  refuse(socket, { failure: refusalOf(error) }, publicUrl)
}

/** A client takes us for a proxy. Node would close the connection without a response. */
const whenConnecting =
  (publicUrl: string | undefined) =>
  ({ headers }: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy())
    const failure = Errors.failure("method_not_allowed", "CONNECT: no tunnels are made here")
    refuse(socket, { failure, requestId: headers[RequestId.header], headers: { Allow: "" } }, publicUrl)
  }

let answered: Array<Duplex> = []
let isAnswering = false

const sendAnswered = () => {
  const sockets = answered
  answered = []
  for (const socket of sockets) while (socket.writableCorked > 0) socket.uncork()
}

/** Node uncorks a connection wholly when its answer ends, however often it was corked: while it does that, it is kept from it. */
const keepCorked = (socket: Socket): void => {
  socket.uncork = () => {
    if (!isAnswering) Socket.prototype.uncork.call(socket)
  }
}

/**
 * Answers that are ready in one turn of the event loop, as those of one group of reads are, are sent one right after the other at its end. Sent each when
 * it is ready, or when the connection that it came on has been read, each would wake its client, which would be asleep again before the next
 * (docs/performance.md).
 */
class Answer<Request extends IncomingMessage> extends ServerResponse<Request> {
  override end(whenSent?: () => void): this
  override end(chunk: unknown, whenSent?: () => void): this
  override end(chunk: unknown, encoding: BufferEncoding, whenSent?: () => void): this
  override end(...rest: ReadonlyArray<unknown>): this {
    const { socket } = this
    if (socket === null) return Reflect.apply(super.end, this, rest)
    socket.cork()
    if (answered.push(socket) === 1) setImmediate(sendAnswered)
    isAnswering = true
    try {
      return Reflect.apply(super.end, this, rest)
    } finally {
      isAnswering = false
    }
  }
}

/** How many bytes of bodies one turn of the event loop begins to work on. In the next turn it is known which of the other clients have gone meanwhile. */
export const turnBytes = 262_144

const bodyBytes = ({ headers }: IncomingMessage): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : turnBytes

/** Whether the client can no longer read a response: it has closed the connection, or its half of it, after which Node closes the other half. */
const hasGone = ({ socket }: IncomingMessage): boolean => socket.destroyed || socket.writableEnded

/**
 * Hands requests to their handler at the end of the turn of the event loop that read them, and none whose client has gone by then: a process that was busy
 * reads a request and the end of its connection in one turn. Keeps requests that come before there is a handler: the framework listens first and attaches its handler later, and Node would leave such a request
 * without an answer. Ends every connection after the answer it is waiting for: Node would go on serving a client that never pauses.
 */
class Listener extends Server {
  readonly #early: Array<readonly [IncomingMessage, ServerResponse]> = []
  #isEarly = false
  #waiting: Array<readonly [IncomingMessage, ServerResponse]> = []
  readonly #sockets = new Set<Socket>()

  constructor(options: ServerOptions) {
    super(options)
    this.on("connection", (socket) => {
      keepCorked(socket)
      this.#sockets.add(socket)
      socket.once("close", () => this.#sockets.delete(socket))
    })
  }

  /** To be called last: the next listener for requests is taken to be the handler. */
  keepEarly(): this {
    const keep = (request: IncomingMessage, response: ServerResponse) => this.#early.push([request, response])
    this.#isEarly = true
    const attend = (event: string) => {
      if (event !== "request") return
      this.#isEarly = false
      this.off("newListener", attend).off("request", keep)
      // Emitted right before a handler is attached.
      process.nextTick(() => {
        for (const [request, response] of this.#early.splice(0)) this.emit("request", request, response)
      })
    }
    return this.on("request", keep).on("newListener", attend)
  }

  override emit(event: string, ...rest: Array<unknown>): boolean {
    const [request, response] = rest
    if (event !== "request" || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse))
      return super.emit(event, ...rest)
    if (this.#waiting.push([request, response]) === 1) setImmediate(this.#begin)
    return true
  }

  readonly #begin = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    let bytes = 0
    for (const [at, [request, response]] of waiting.entries()) {
      if (hasGone(request)) continue
      bytes += bodyBytes(request)
      if (at > 0 && bytes > turnBytes) {
        this.#waiting = [...waiting.slice(at), ...this.#waiting]
        setImmediate(this.#begin)
        return
      }
      super.emit("request", request, response)
    }
  }

  override close(whenClosed?: (error?: Error) => void): this {
    // There is no handler yet, so these requests can have no response.
    for (const [, response] of [...this.#early.splice(0), ...(this.#isEarly ? this.#waiting.splice(0) : [])]) response.destroy()
    // Whose answer is ready counts as idle, and idle connections are ended at once: what is ready is sent before each look at them.
    sendAnswered()
    const last = (response: ServerResponse) => {
      response.shouldKeepAlive = false
    }
    for (const socket of this.#sockets) {
      const response = currentOf(socket)
      if (response !== undefined) last(response)
    }
    this.prependListener("request", (_, response) => last(response))
    const sweep = setInterval(() => {
      sendAnswered()
      this.closeIdleConnections()
    }, sweepMillis)
    this.once("close", () => clearInterval(sweep))
    return super.close(whenClosed)
  }
}

/**
 * A server of Node's that answers with an envelope also what never becomes a request, and that can end. A request without `Host` is not refused here.
 * Nothing is upgraded to: such a request is answered as without it, for on an upgraded connection a disconnect would not be noticed.
 */
export const make = (options: ServerOptions = {}, limits?: Limits, publicUrl?: string): Server => {
  const listener = new Listener({
    ServerResponse: Answer,
    requireHostHeader: false,
    shouldUpgradeCallback: () => false,
    headersTimeout: headersMillis,
    connectionsCheckingInterval: lateMillis,
    ...options
  })
  listener.maxHeadersCount = maxHeaders
  if (limits !== undefined) {
    if (limits.isDirect) share(listener, limits)
    else {
      listener.maxConnections = limits.maxConnections
      listener.on("drop", limits.whenFull)
    }
  }
  return listener
    .on("clientError", whenUnreadable(publicUrl))
    .on("connect", whenConnecting(publicUrl))
    .on("checkExpectation", (request, response) => {
      const refusal = Errors.failure("expectation_failed", "The only expectation that is met is 100-continue")
      const { text, headers } = written(refusal, RequestId.of(request.headers[RequestId.header]), publicUrl)
      response.writeHead(417, headers).end(text)
    })
    .keepEarly()
}
