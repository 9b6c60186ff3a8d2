import { Effect } from "effect"
import { readFileSync } from "node:fs"
import http from "node:http"
import https from "node:https"

/** A server to call. */
export interface Options {
  readonly url: string
  /** The certificate of the server or its issuer, in PEM. Defaults to the public authorities. */
  readonly certificateFile?: string | undefined
  /** Response timeout. Default 30 s. */
  readonly patienceMillis?: number | undefined
}

export interface Ask {
  readonly method: "GET" | "POST"
  /** The path after the server's address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** The largest block in hex, in JSON, with some margin. */
const maxAnswerBytes = 32 * 1024 * 1024

/**
 * The server had closed a reused connection when we wrote to it. It did not read the request, or the request
 * can be repeated.
 */
const wasKept = (request: http.ClientRequest, cause: unknown): boolean =>
  request.reusedSocket && cause instanceof Error && "code" in cause && (cause.code === "ECONNRESET" || cause.code === "EPIPE")

/**
 * Calls a server. It never follows a redirect. Fails without a response. Every request here may be repeated:
 * reads, and broadcasts of the same bytes. So a request on a connection that was just closed is repeated on
 * another one.
 */
export const make = ({ url, certificateFile, patienceMillis = 30_000 }: Options) => {
  const isSecure = new URL(url).protocol === "https:"
  const base = url.replace(/\/+$/, "")
  // Read on demand, because a node creates its certificate when it starts, which may be after we do.
  let agent: http.Agent | undefined
  const agentOf = () =>
    (agent ??= isSecure
      ? new https.Agent({ keepAlive: true, ...(certificateFile !== undefined && { ca: readFileSync(certificateFile) }) })
      : new http.Agent({ keepAlive: true }))

  const ask = ({ method, path, headers = {}, body = "" }: Ask): Effect.Effect<Answer, Error> =>
    Effect.callback((resume) => {
      const fail = (cause: unknown) => resume(Effect.fail(cause instanceof Error ? cause : new Error(String(cause))))
      try {
        const request = (isSecure ? https : http).request(
          `${base}${path}`,
          { method, agent: agentOf(), timeout: patienceMillis, headers: { ...headers, "content-length": Buffer.byteLength(body) } },
          (answer) => {
            const parts: Array<Buffer> = []
            let size = 0
            answer.on("data", (part: Buffer) => {
              size += part.length
              if (size > maxAnswerBytes) request.destroy(new Error(`more than ${maxAnswerBytes} bytes`))
              else parts.push(part)
            })
            answer.on("end", () => resume(Effect.succeed({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) })))
            answer.on("error", fail)
          }
        )
        request.on("timeout", () => request.destroy(new Error(`no response within ${patienceMillis} ms`)))
        // Each reused connection is closed only once, so at the latest a new one responds or fails.
        request.on("error", (cause) => (wasKept(request, cause) ? resume(ask({ method, path, headers, body })) : fail(cause)))
        request.end(body)
        return Effect.sync(() => request.destroy())
      } catch (cause) {
        return fail(cause)
      }
    })
  return ask
}
