import { Clock, Context, Effect } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { readFileSync, statSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { Readable } from "node:stream"

/** How the server is known to be itself. */
export interface Options {
  /** The certificate that the server, or its issuer, must have, in PEM; the public authorities' when absent. Read again when it changes. */
  readonly certificateFile?: string | undefined
}

/**
 * Until when, by the clock in milliseconds, a request may be sent off. What could not be by then is never sent: a process that slept sends nothing
 * that other processes have long failed.
 */
export const NotAfter = Context.Reference<number>("@satrail/nodes/Https/NotAfter", { defaultValue: () => Number.POSITIVE_INFINITY })

/** Nothing of the request was written: there was no connection to write it to, or it was too late. On a connection that was kept nothing is certain. */
export class NotWritten extends Error {
  constructor(cause: unknown) {
    super("the request was not written", { cause })
  }
}

/** Whether a failed request is certain not to have been written. */
export const isNotWritten = (problem: unknown): boolean =>
  HttpClientError.isHttpClientError(problem) && problem.reason.cause instanceof NotWritten

/** How long a silent connection is kept before the system asks whether the other end is still there. */
const keepAliveMillis = 30_000

/** A node renews its certificate and continues with the new one: a client that keeps the old one could not connect any more. */
const agentOf = (certificateFile: string | undefined): (() => https.Agent) => {
  const options = { keepAlive: true, keepAliveMsecs: keepAliveMillis }
  if (certificateFile === undefined) {
    const agent = new https.Agent(options)
    return () => agent
  }
  let current: { readonly version: string; readonly agent: https.Agent } | undefined
  return () => {
    const { mtimeMs, size, ino } = statSync(certificateFile)
    const version = `${mtimeMs} ${size} ${ino}`
    if (current?.version !== version) {
      current = { version, agent: new https.Agent({ ...options, ca: readFileSync(certificateFile) }) }
    }
    return current.agent
  }
}

/** What a status says about the body: these have none, and a `Response` refuses to be made with one. */
const withoutBody = new Set([204, 205, 304])

/** Speaks HTTP over TLS with one certificate in place of the authorities of the world. Follows no redirection. */
export const make = ({ certificateFile }: Options): HttpClient.HttpClient => {
  const agent = agentOf(certificateFile)
  const plain = new http.Agent({ keepAlive: true, keepAliveMsecs: keepAliveMillis })

  return HttpClient.make((request, url, signal, fiber) =>
    Effect.callback((resume) => {
      const [clock, notAfter] = [fiber.getRef(Clock.Clock), fiber.getRef(NotAfter)]
      let isWritten = false
      const fail = (problem: unknown) => {
        const cause = isWritten ? problem : new NotWritten(problem)
        resume(Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })))
      }
      try {
        if (request.body._tag !== "Empty" && request.body._tag !== "Uint8Array") throw new TypeError(`A body of kind ${request.body._tag}`)
        const body = request.body._tag === "Uint8Array" ? request.body.body : undefined
        const options = { method: request.method, headers: { ...request.headers, "content-length": body?.byteLength ?? 0 }, signal }
        const answered = (incoming: http.IncomingMessage) => {
          const status = incoming.statusCode ?? 0
          // Also a status that no `Response` can have is an answer that is not understood, and no reason to break.
          try {
            // oxlint-disable-next-line typescript/consistent-type-assertions -- Node's own web stream, which its types keep apart from the global one
            const stream = Readable.toWeb(incoming) as unknown as ReadableStream
            resume(Effect.succeed(HttpClientResponse.fromWeb(request, new Response(withoutBody.has(status) ? null : stream, { status }))))
          } catch (cause) {
            incoming.destroy()
            fail(cause)
          }
        }
        const sent =
          url.protocol === "https:"
            ? https.request(url, { ...options, agent: agent() }, answered)
            : http.request(url, { ...options, agent: plain }, answered)
        const send = () => {
          if (sent.destroyed) return
          if (clock.currentTimeMillisUnsafe() <= notAfter) {
            isWritten = true
            sent.end(body)
          } else sent.destroy(new Error("It is too late to send this"))
        }
        sent.once("error", fail)
        // Nothing is handed to Node before it can go out at once: until a connection is there a process may sleep for long.
        sent.once("socket", (socket) =>
          socket.connecting ? socket.once(url.protocol === "https:" ? "secureConnect" : "connect", send) : send()
        )
      } catch (cause) {
        fail(cause)
      }
    })
  )
}
