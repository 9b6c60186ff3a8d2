import { Clock, Context, Effect } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { readFileSync, statSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { Readable } from "node:stream"

/** Options for authenticating the server. */
export interface Options {
  /**
   * The certificate of the server or its issuer, in PEM. The file is read again when it changes. By default,
   * the public certificate authorities are trusted.
   */
  readonly certificateFile?: string | undefined
}

/**
 * Deadline for sending a request, in milliseconds since 1970. A request is never sent after its deadline, so a
 * process that was suspended doesn't send a payment that other processes have already failed.
 */
export const NotAfter = Context.Reference<number>("@satrail/nodes/Https/NotAfter", {
  defaultValue: () => Number.POSITIVE_INFINITY
})

/**
 * No part of the request was written, because there was no connection or the deadline had passed. On a reused
 * connection this is never certain.
 */
export class NotWritten extends Error {
  constructor(cause: unknown) {
    super("the request was not written", { cause })
  }
}

/** Returns whether it is certain that a failed request was not written. */
export const isNotWritten = (problem: unknown): boolean =>
  HttpClientError.isHttpClientError(problem) && problem.reason.cause instanceof NotWritten

/** The server closed a reused connection before it responded. It may have received the request. */
class Closed extends Error {
  constructor(cause: unknown) {
    super("the server closed the connection", { cause })
  }
}

/** Returns whether a request failed only because its reused connection was closed, for example by a restart of the server. */
export const wasClosed = (problem: unknown): boolean =>
  HttpClientError.isHttpClientError(problem) && problem.reason.cause instanceof Closed

/** Error codes of a connection that the server has closed. */
const closing: ReadonlyArray<unknown> = ["ECONNRESET", "EPIPE"]

/** Idle time of a connection after which the system probes the other end. */
const keepAliveMillis = 30_000

/**
 * Returns an agent for the current certificate file. A node may renew its certificate, and a client with the
 * old one could no longer connect.
 */
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

/** Statuses with which a `Response` must not have a body. */
const withoutBody = new Set([204, 205, 304])

/**
 * An HTTPS client that trusts one certificate instead of the public authorities. It doesn't follow redirects.
 */
export const make = ({ certificateFile }: Options): HttpClient.HttpClient => {
  const agent = agentOf(certificateFile)
  const plain = new http.Agent({ keepAlive: true, keepAliveMsecs: keepAliveMillis })

  return HttpClient.make((request, url, signal, fiber) =>
    Effect.callback((resume) => {
      const [clock, notAfter] = [fiber.getRef(Clock.Clock), fiber.getRef(NotAfter)]
      let isWritten = false
      const fail = (problem: unknown) => {
        const cause = isWritten ? problem : new NotWritten(problem)
        resume(
          Effect.fail(
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, cause })
            })
          )
        )
      }
      try {
        if (request.body._tag !== "Empty" && request.body._tag !== "Uint8Array")
          throw new TypeError(`A body of kind ${request.body._tag}`)
        const body = request.body._tag === "Uint8Array" ? request.body.body : undefined
        const options = {
          method: request.method,
          headers: { ...request.headers, "content-length": body?.byteLength ?? 0 },
          signal
        }
        const answered = (incoming: http.IncomingMessage) => {
          const status = incoming.statusCode ?? 0
          // Treat a status that no `Response` can have as an invalid response instead of crashing.
          try {
            // oxlint-disable-next-line typescript/consistent-type-assertions -- Node's own web stream, which its types distinguish from the global one
            const stream = Readable.toWeb(incoming) as unknown as ReadableStream
            resume(
              Effect.succeed(
                HttpClientResponse.fromWeb(
                  request,
                  new Response(withoutBody.has(status) ? null : stream, { status })
                )
              )
            )
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
          } else sent.destroy(new Error("the deadline to send the request has passed"))
        }
        sent.once("error", (error: NodeJS.ErrnoException) =>
          fail(sent.reusedSocket && closing.includes(error.code) ? new Closed(error) : error)
        )
        // Pass the body to Node only when it can be sent immediately, because the process may be suspended for
        // a long time before the connection is open.
        sent.once("socket", (socket) =>
          socket.connecting
            ? socket.once(url.protocol === "https:" ? "secureConnect" : "connect", send)
            : send()
        )
      } catch (cause) {
        fail(cause)
      }
    })
  )
}
