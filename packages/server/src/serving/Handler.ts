import { writtenIn } from "@satrail/http/edge/Refusals"
import { arrivedFrom } from "@satrail/http/wire/Address"
import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"

/**
 * Handles requests: returns a `Response` to a web `Request`, or responds to a Node request, as in
 * `app.use("/pay", pay.handler)`. With `app.use(pay.handler)`, other paths go to the next handler. Unexpected errors go
 * to `next`, or without it to the log, and the response is 500.
 */
export interface Handler {
  (request: Request): Promise<Response>
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): Promise<void>
}

/** The first path segments of the service's routes. */
const roots: ReadonlySet<string> = new Set([
  "v1",
  "pay",
  "ui",
  "console",
  "operator",
  "docs",
  ".well-known",
  "lnurlp",
  "lnurlw",
  "sandbox",
  "openapi.json",
  "favicon.ico",
  "healthz",
  "readyz",
  "metrics"
])

/** Whether a path may be the service's. Other paths at the root of a framework are left to its other handlers. */
const isOwn = ({ path, prefix }: ReturnType<typeof pathOf>): boolean => {
  const [, first = ""] = /^\/([^/?]*)/.exec(path) ?? []
  return prefix !== undefined || roots.has(first)
}

/**
 * Maps the host program's path to the service's path. Under a prefix such as `/pay`, `/pay/v1/…` becomes
 * `/v1/…`. `/pay/` followed by a checkout's id is kept, because that is the checkout page's path in the
 * service. Other prefixes that the service itself uses, such as `/ui`, are kept in the same way.
 */
export const inside = (path: string, prefix = "/pay"): string => {
  if (prefix === "" || (path !== prefix && !path.startsWith(`${prefix}/`) && !path.startsWith(`${prefix}?`)))
    return path
  const rest = path.slice(prefix.length)
  const [, first = ""] = /^\/?([^/?]*)/.exec(rest) ?? []
  const isRoot = roots.has(prefix.slice(1))
  if (isRoot && (prefix !== "/pay" || (first !== "" && !roots.has(first)))) return path
  return rest.startsWith("/") ? rest : `/${rest}`
}

/** How long after the response a client may keep sending a body that the service will not read. */
const patienceMillis = 1000

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>) {
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

const bodyOf = (incoming: IncomingMessage) => {
  const chunks = incoming.iterator({ destroyOnReturn: false })
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    }
  })
  return { stream, end: () => chunks.return?.() }
}

/** A client that disconnects during a response does not cause an error in the host program. */
const isDisconnect = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE"

/**
 * Returns the path that the client requested. Express and Connect remove the prefix under which a handler is
 * mounted.
 */
const pathOf = (
  incoming: IncomingMessage
): { readonly path: string; readonly prefix: string | undefined } => {
  const { url = "/" } = incoming
  const original: unknown = Reflect.get(incoming, "originalUrl")
  const base: unknown = Reflect.get(incoming, "baseUrl")
  return {
    path: typeof original === "string" ? original : url,
    prefix: typeof base === "string" && base !== "" ? base : undefined
  }
}

/** Returns the URL of a path, which may begin with `//`, or of a full URL, as clients send it to a proxy. */
const urlOf = (path: string, origin = "http://localhost"): URL =>
  new URL(path.startsWith("/") ? `${origin}${path}` : path, origin)

/** Whether a web request with this method has a body. Some clients also send one with GET, and it is ignored. */
const hasBody = ({ method = "GET" }: IncomingMessage): boolean => method !== "GET" && method !== "HEAD"

/**
 * Returns a request's URL. A web request would change a path with dots or backslashes, for example `/v1/../operator` to
 * `/operator`, after a guard before the handler has allowed it. Such a path becomes one without a route.
 */
const targetOf = (path: string, prefix: string | undefined): URL => {
  const url = urlOf(inside(path, prefix))
  const [written = ""] = writtenIn(inside(path, prefix)).split(/[?#]/)
  return written === url.pathname ? url : urlOf(`/${encodeURIComponent(path)}`)
}

/** Returns undefined if a web request cannot have this method or URL, such as `TRACE` or `http://[`. */
const requestOf = (incoming: IncomingMessage, stream: ReadableStream): Request | undefined => {
  const { method = "GET", headersDistinct } = incoming
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value])
  )
  const { path, prefix } = pathOf(incoming)
  const sent = hasBody(incoming) ? { body: stream, duplex: "half" as const } : {}
  try {
    return new Request(targetOf(path, prefix), { method, headers, ...sent })
  } catch {
    return undefined
  }
}

const node =
  (handle: (request: Request) => Promise<Response>) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (incoming.readableDidRead && hasBody(incoming))
      throw new TypeError("the body was already read; mount pay.handler before body parsers")
    const body = bodyOf(incoming)
    const request = requestOf(incoming, body.stream)
    if (request === undefined) return void outgoing.writeHead(400).end()
    arrivedFrom(request, incoming.socket.remoteAddress ?? "")
    const answer = await handle(request)
    outgoing.writeHead(answer.status, [...answer.headers].flat())
    if (answer.body === null) {
      outgoing.end()
    } else {
      const reader = answer.body.getReader()
      outgoing.once("close", () => void reader.cancel().catch(() => {})) // the client disconnected, which is how a stream ends
      let failure: unknown
      void reader.closed.catch((error: unknown) => {
        failure = error
        outgoing.destroy() // a client that has stopped reading does not notice that the response failed
      })
      await pipeline(chunksOf(reader), outgoing).catch((error: unknown) => {
        if (failure !== undefined || !isDisconnect(error)) throw failure ?? error
      })
    }
    if (incoming.complete) return
    // Read and discard the rest of a rejected body. Otherwise the server would wait for this connection when it
    // closes.
    const cutOff = setTimeout(() => incoming.destroy(), patienceMillis)
    incoming.once("close", () => clearTimeout(cutOff))
    await body.end()
    incoming.resume()
  }

const isRequest = (given: Request | IncomingMessage): given is Request =>
  typeof given.headers["get"] === "function"

/**
 * Builds one function for both kinds of requests. `handle` is created at the first request. Without `next`, an unexpected
 * error goes to `report`, because a rejection would end a program that calls `createServer(pay.handler)`.
 */
export const make = (
  handle: (request: Request) => Promise<Response>,
  report: (error: unknown) => void
): Handler => {
  const answer = (request: Request) => {
    const url = new URL(request.url)
    const given = `${url.pathname}${url.search}`
    const path = inside(given)
    if (path === given && request.headers.has("host")) return handle(request)
    const inner = new Request(urlOf(path, url.origin), request)
    if (!inner.headers.has("host")) inner.headers.set("host", url.host)
    return handle(inner)
  }
  const write = node(handle)
  const either = async (
    request: Request | IncomingMessage,
    response?: ServerResponse,
    next?: (error?: unknown) => void
  ) => {
    if (isRequest(request)) return answer(request)
    if (response === undefined)
      throw new TypeError("pay.handler takes a Request, or Node's request and response")
    if (next !== undefined && !isOwn(pathOf(request))) return next()
    try {
      await write(request, response)
    } catch (error) {
      if (next !== undefined) return next(error)
      report(error)
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end()
    }
    return undefined
  }
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the argument decides which of the two it returns
  return either as Handler
}
