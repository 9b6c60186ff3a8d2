import { Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { Outage } from "./Outage.ts"

/** A server to call. */
export interface Options {
  readonly url: string
  /**
   * The certificate of the server or its issuer, in PEM. The file is read again when it changes. By default,
   * the public certificate authorities are trusted.
   */
  readonly certificateFile?: string | undefined
  /** How long the server may send nothing. Default 30 s. */
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

/**
 * Size limit of a response. Any block or transaction fits alone: 8 MB in hex, and 29 MB in verbose JSON, where an
 * opcode of one byte takes up to 29 characters.
 */
const maxAnswerMiB = 32
const maxAnswerBytes = maxAnswerMiB * 1024 * 1024

/**
 * Timeout of a whole response. The ids of a full mempool take 20 MB and must arrive over a slow line too: otherwise,
 * the chain would no longer be followed.
 */
const wholeMillis = 300_000

/** The server's response is larger than the limit. The server itself works. */
export class AnswerTooLarge extends Outage {
  constructor() {
    super(
      `a response is larger than ${maxAnswerMiB} MiB`,
      "Check the URL. If it is correct, lower `maxmempool` of the bitcoin node."
    )
  }
}

/**
 * Returns whether the server had closed a reused connection when we wrote to it.
 */
const wasKept = (request: http.ClientRequest, cause: unknown): boolean =>
  request.reusedSocket &&
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ECONNRESET" || cause.code === "EPIPE")

/**
 * Returns a function that calls a server. It never follows redirects, and fails if there is no response. Every
 * request here is safe to repeat: it is a read, or a broadcast of the same bytes. So a request whose reused
 * connection was just closed is retried on another one.
 */
export const make = ({ url, certificateFile, patienceMillis = 30_000 }: Options) => {
  const isSecure = new URL(url).protocol === "https:"
  const base = url.replace(/\/+$/, "")
  const file = isSecure ? certificateFile : undefined
  // Read the certificate on demand: a node creates it at its start, which may be after ours, and may renew it.
  let current: { readonly version: string; readonly agent: http.Agent } | undefined
  const agentOf = () => {
    const { mtimeMs, size, ino } = file === undefined ? { mtimeMs: 0, size: 0, ino: 0 } : statSync(file)
    const version = `${mtimeMs} ${size} ${ino}`
    if (current?.version !== version) {
      const ca = file === undefined ? {} : { ca: readFileSync(file) }
      current = { version, agent: new (isSecure ? https : http).Agent({ keepAlive: true, ...ca }) }
    }
    return current.agent
  }

  const send = ({ method, path, headers = {}, body = "" }: Ask): Effect.Effect<Answer, Error> =>
    Effect.callback((resume) => {
      const fail = (cause: unknown) =>
        resume(Effect.fail(cause instanceof Error ? cause : new Error(String(cause))))
      try {
        const request = (isSecure ? https : http).request(
          `${base}${path}`,
          {
            method,
            agent: agentOf(),
            timeout: patienceMillis,
            headers: { ...headers, "content-length": Buffer.byteLength(body) }
          },
          (answer) => {
            const parts: Array<Buffer> = []
            let size = 0
            answer.on("data", (part: Buffer) => {
              size += part.length
              if (size > maxAnswerBytes) request.destroy(new AnswerTooLarge())
              else parts.push(part)
            })
            answer.on("end", () =>
              resume(Effect.succeed({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) }))
            )
            answer.on("error", fail)
          }
        )
        request.on("timeout", () => request.destroy(new Error(`no response within ${patienceMillis} ms`)))
        // The retries end: each reused connection fails only once, and a new one responds or fails for good.
        request.on("error", (cause) =>
          wasKept(request, cause) ? resume(send({ method, path, headers, body })) : fail(cause)
        )
        request.end(body)
        return Effect.sync(() => request.destroy())
      } catch (cause) {
        return fail(cause)
      }
    })
  return (what: Ask): Effect.Effect<Answer, Error> =>
    Effect.timeoutOrElse(send(what), {
      duration: wholeMillis,
      orElse: () => Effect.fail(new Error(`no complete response within ${wholeMillis} ms`))
    })
}
