import * as Pool from "@satrail/core/base/Pool"
import * as Address from "@satrail/http/wire/Address"
import * as Errors from "@satrail/http/wire/Errors"
import * as RequestId from "@satrail/http/edge/RequestId"
import { IncomingMessage, maxHeaderSize, Server, type ServerOptions, ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Crowd from "./Crowd.ts"
import * as Pipelining from "./Pipelining.ts"
import * as SmallParts from "./SmallParts.ts"
import * as Stalled from "./Stalled.ts"

/**
 * How long a refused client can take to read the reason. Closing the connection immediately could discard the
 * last bytes sent.
 */
const partingMillis = 500

/**
 * Maximum number of headers of a request. Node rejects requests with more headers, or with headers that are too
 * long.
 */
export const maxHeaders = 200

/** Timeout for receiving a request's headers, and the interval at which connections are checked against it. */
export const headersMillis = 20_000
const lateMillis = 5_000

/** The connection limit, and a callback for connections closed because of the limit. */
export interface Limits {
  readonly maxConnections: number
  /** Number of the operator's reverse proxies, as in `Edge.Options`. */
  readonly proxies: number
  readonly whenFull: () => void
}

/** Divides the connections: one address may have an eighth of them. */
export const sharesOf = (most: number): Pool.Shares => ({ most, perCaller: Math.ceil(most / 8), per: {} })

/** For each connection above the limit, closes the largest holder's least recently used connection. */
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

/**
 * Behind a proxy, only a request shows whose connection it is, and the next one can be another caller's. So the
 * connections are divided only when there are too many: an eighth of them is closed, always the largest holder's least
 * recently used one. Refusing new connections instead would let one caller take all of them.
 */
const shareBehind = (listener: Server, { maxConnections, proxies, whenFull }: Limits): void => {
  const forwarded = new Map<Socket, string | undefined>()
  const use = (socket: Socket, header?: string) =>
    void (forwarded.delete(socket), forwarded.set(socket, header))
  listener.on("connection", (socket: Socket) => {
    use(socket)
    socket.once("close", () => forwarded.delete(socket))
    if (forwarded.size <= maxConnections) return
    const callerOf = ([one, header]: readonly [Socket, string | undefined]) =>
      Address.forwardedIn(header, proxies) || (one.remoteAddress ?? "")
    for (const [other] of Crowd.pick(forwarded, callerOf, 1 + Math.floor(maxConnections / 8))) {
      forwarded.delete(other)
      other.destroy()
      whenFull()
    }
  })
  listener.on("request", ({ socket, headers }: IncomingMessage) =>
    use(socket, String(headers["x-forwarded-for"] ?? ""))
  )
}

/** Interval at which idle connections are closed during shutdown. */
const sweepMillis = 20

/**
 * Returns the failure for a request that Node could not parse. It is sent as an envelope, whereas Node itself
 * would send an empty body.
 */
const refusalOf = (error: Error): Errors.Failure => {
  switch ("code" in error ? error.code : undefined) {
    case "HPE_HEADER_OVERFLOW":
      return Errors.failure(
        "headers_too_large",
        `The request has more than ${maxHeaders} headers, or they have more than ${maxHeaderSize} bytes`
      )
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return Errors.failure("body_too_large", "The body's chunk extensions are too long")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return Errors.failure("request_timeout", "The request did not arrive in time")
    default:
      return Errors.malformedRequest([{ path: "", message: "This is not a valid HTTP request" }])
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large"
}

/** Serializes a refusal with its headers. */
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

/**
 * Returns the response in progress on a connection, from an internal field of Node. Tracking it separately took
 * a fifth of a request's time.
 */
const currentOf = (socket: Duplex): ServerResponse | undefined =>
  "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse ? socket._httpMessage : undefined

interface Refusal {
  readonly failure: Errors.Failure
  /** The request's id, if it could be parsed. */
  readonly requestId?: string | ReadonlyArray<string> | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const refuse = (
  socket: Duplex,
  { failure: refusal, requestId, headers: more }: Refusal,
  publicUrl: string | undefined
) => {
  const { text, headers } = written(refusal, RequestId.of(requestId), publicUrl)
  const head = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? ""}\r\n${head.join("")}\r\n${text}`)
  setTimeout(() => socket.destroy(), partingMillis).unref()
}

const whenUnreadable =
  (listener: Listener, publicUrl: string | undefined) => (error: Error, socket: Duplex) => {
    const response = listener.lastOf(socket) ?? currentOf(socket)
    // The malformed bytes followed complete requests. Let those take effect, and send their responses.
    if (response !== undefined && response.req.complete && !response.writableFinished) {
      response.shouldKeepAlive = false
      response.once("finish", () => socket.end())
      return
    }
    // No error can be inserted into a response in progress.
    if (!socket.writable || (response !== undefined && response.headersSent && !response.writableFinished)) {
      socket.destroy()
      return
    }
    refuse(socket, { failure: refusalOf(error) }, publicUrl)
  }

/** Handles a client that tries to use us as a proxy. Node itself would close the connection without a response. */
const whenConnecting =
  (publicUrl: string | undefined) =>
  ({ headers }: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy())
    const failure = Errors.failure("method_not_allowed", "CONNECT is not supported")
    refuse(socket, { failure, requestId: headers[RequestId.header], headers: { Allow: "" } }, publicUrl)
  }

const whenInSmallParts =
  (publicUrl: string | undefined) =>
  (request: IncomingMessage): void => {
    const { socket, headers } = request
    Pipelining.stopReading(socket)
    const response = currentOf(socket)
    // An earlier request's response is not complete, or this request's has begun or been sent.
    if (response?.req !== request || response.headersSent) return void socket.destroy()
    const failure = Errors.failure("body_too_large", "The body arrives in too many small parts")
    return refuse(socket, { failure, requestId: headers[RequestId.header] }, publicUrl)
  }

let answered: Array<Duplex> = []
let isAnswering = false

const sendAnswered = () => {
  const sockets = answered
  answered = []
  for (const socket of sockets) while (socket.writableCorked > 0) socket.uncork()
}

/**
 * When a response ends, Node fully uncorks its connection, however often the connection was corked. So `uncork`
 * is disabled while a response ends.
 */
const keepCorked = (socket: Socket): void => {
  socket.uncork = () => {
    if (!isAnswering) Socket.prototype.uncork.call(socket)
  }
}

/**
 * Sends all responses of one event-loop turn, for example of a batch of reads, together at the end of the turn.
 * If each were sent when it is ready, a client would wake up for it and be asleep again before the next one
 * arrives (docs/performance.md).
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

/**
 * Maximum number of body bytes that one event-loop turn starts to process. The rest waits for the next turn,
 * when it is known which clients have disconnected.
 */
export const turnBytes = 262_144

/** Maximum number of requests that one event-loop turn starts, so that it stays short. The rest waits, too. */
export const turnRequests = 256

const bodyBytes = ({ headers }: IncomingMessage): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : turnBytes

/**
 * Returns whether the client can no longer read a response because it closed the connection, or closed its half
 * of it (after which Node closes the other half).
 */
const hasGone = ({ socket }: IncomingMessage): boolean => socket.destroyed || socket.writableEnded

/**
 * Passes requests to their handler at the end of the event-loop turn that read them, unless the client has
 * disconnected. (A busy process may read a request and the end of its connection in one turn.) Keeps requests
 * that arrive before there is a handler, because the framework listens before it attaches its handler, and Node
 * would leave such requests without a response. When the listener closes, it ends each connection after the
 * pending response, because Node would keep serving a client that never pauses. Ends connections whose client
 * stops reading.
 */
class Listener extends Server {
  readonly #early: Array<readonly [IncomingMessage, ServerResponse]> = []
  #isEarly = false
  #waiting: Array<readonly [IncomingMessage, ServerResponse, event: string]> = []
  readonly #sockets = new Set<Socket>()
  readonly #pipelining = Pipelining.make((...next) => this.#await(...next))

  constructor(options: ServerOptions) {
    super(options)
    this.on("connection", (socket) => {
      keepCorked(socket)
      this.#sockets.add(socket)
      socket.once("close", () => {
        this.#sockets.delete(socket)
        this.#pipelining.forget(socket)
      })
    })
    const check = setInterval(Stalled.make(this.#sockets), Stalled.stalledMillis).unref()
    this.once("close", () => clearInterval(check))
  }

  /** Keeps early requests. Call this last, because the next listener for requests is assumed to be the handler. */
  keepEarly(): this {
    const keep = (request: IncomingMessage, response: ServerResponse) => this.#early.push([request, response])
    this.#isEarly = true
    const attend = (event: string) => {
      if (event !== "request") return
      this.#isEarly = false
      this.off("newListener", attend).off("request", keep)
      // `newListener` is emitted right before the handler is attached.
      process.nextTick(() => {
        for (const [request, response] of this.#early.splice(0)) this.emit("request", request, response)
      })
    }
    return this.on("request", keep).on("newListener", attend)
  }

  override emit(event: string, ...rest: Array<unknown>): boolean {
    const [request, response] = rest
    const isRequest = event === "request" || event === "checkContinue"
    if (!isRequest || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse))
      return super.emit(event, ...rest)
    // Node parses the rest of a read even if the connection has been closed meanwhile.
    if (request.socket.destroyed) return true
    // Node drops what follows an upgrade request in the same read. It can be another caller's request from a proxy.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    // A response gets the connection only when the responses before it have been sent.
    if (response.socket === null) this.#pipelining.wait(request, response, event)
    else this.#await(request, response, event)
    return true
  }

  /** Begins a request at the end of the event-loop turn. */
  #await(request: IncomingMessage, response: ServerResponse, event: string): void {
    if (this.#waiting.push([request, response, event]) === 1) setImmediate(this.#begin)
  }

  readonly #begin = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    let bytes = 0
    for (const [at, [request, response, event]] of waiting.entries()) {
      if (hasGone(request)) continue
      bytes += bodyBytes(request)
      if (at > 0 && (bytes > turnBytes || at >= turnRequests)) {
        this.#waiting = [...waiting.slice(at), ...this.#waiting]
        setImmediate(this.#begin)
        return
      }
      super.emit(event, request, response)
    }
  }

  /** Returns the response to the last complete request that waits for an earlier response. */
  lastOf(socket: Duplex): ServerResponse | undefined {
    return this.#pipelining.lastOf(socket)
  }

  override close(whenClosed?: (error?: Error) => void): this {
    // There is no handler yet, so these requests cannot get a response.
    for (const [, response] of [...this.#early.splice(0), ...(this.#isEarly ? this.#waiting.splice(0) : [])])
      response.destroy()
    // Node counts a connection as idle once its response is ready, and would close it. So send ready responses
    // before each check.
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
 * Creates a Node server that also sends envelopes for input that never becomes a request, and that closes
 * reliably. It does not refuse a request without `Host`. It ignores upgrades, because on an upgraded connection
 * a disconnect would not be noticed.
 */
export const make = (options: ServerOptions = {}, limits?: Limits, publicUrl?: string): Server => {
  const listener = new Listener({
    IncomingMessage: SmallParts.limited(whenInSmallParts(publicUrl)),
    ServerResponse: Answer,
    requireHostHeader: false,
    shouldUpgradeCallback: () => false,
    headersTimeout: headersMillis,
    connectionsCheckingInterval: lateMillis,
    ...options
  })
  listener.maxHeadersCount = maxHeaders
  if (limits !== undefined) (limits.proxies === 0 ? share : shareBehind)(listener, limits)
  return listener
    .on("clientError", whenUnreadable(listener, publicUrl))
    .on("connect", whenConnecting(publicUrl))
    .on("checkExpectation", (request, response) => {
      const refusal = Errors.failure("expectation_failed", "The only supported expectation is 100-continue")
      const { text, headers } = written(refusal, RequestId.of(request.headers[RequestId.header]), publicUrl)
      response.writeHead(417, headers).end(text)
    })
    .keepEarly()
}
