import { Effect } from "effect"
import { readFileSync } from "node:fs"
import http from "node:http"
import https from "node:https"

/** A server to ask. */
export interface Options {
  readonly url: string
  /** The certificate that it, or its issuer, must have, in PEM; the public authorities' when absent. */
  readonly certificateFile?: string | undefined
  /** How long an answer is waited for. Default 30 s. */
  readonly patienceMillis?: number | undefined
}

export interface Ask {
  readonly method: "GET" | "POST"
  /** What follows the server's address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** The largest block in hex, in JSON, with room. */
const maxAnswerBytes = 32 * 1024 * 1024

/** The server had ended a kept connection when we wrote to it: it has not read this, or what it did with it can be done again. */
const wasKept = (request: http.ClientRequest, cause: unknown): boolean =>
  request.reusedSocket && cause instanceof Error && "code" in cause && (cause.code === "ECONNRESET" || cause.code === "EPIPE")

/**
 * Asks a server, and never another one: a redirection is an answer like any other. Fails when none comes. Whatever is asked here may be asked again: reads,
 * and to take the same bytes of a transaction. So what meets a connection that has just ended is asked over another one.
 */
export const make = ({ url, certificateFile, patienceMillis = 30_000 }: Options) => {
  const isSecure = new URL(url).protocol === "https:"
  const base = url.replace(/\/+$/, "")
  // Read when it is needed: a node makes its certificate when it starts, which may be later than we do.
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
        request.on("timeout", () => request.destroy(new Error(`no answer within ${patienceMillis} ms`)))
        // Each kept connection ends but once: at the latest a new one answers, or fails.
        request.on("error", (cause) => (wasKept(request, cause) ? resume(ask({ method, path, headers, body })) : fail(cause)))
        request.end(body)
        return Effect.sync(() => request.destroy())
      } catch (cause) {
        return fail(cause)
      }
    })
  return ask
}
