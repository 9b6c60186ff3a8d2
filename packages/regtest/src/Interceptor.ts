import * as LndRest from "@satrail/nodes/LndRest"
import { Effect, Option, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import type { Duplex } from "node:stream"
import * as Lnd from "./Lnd.ts"
import * as Process from "./Process.ts"

// Before lnd forwards a payment, it sends a request over a WebSocket of its REST proxy, and does what the
// response says.

export type Word = "RESUME" | "FAIL"

/** Controls what a node forwards. */
export interface Interceptor {
  /** Determines how payment parts are handled from now on: each is forwarded, failed, or held under a name. */
  readonly from: (what: Word | { readonly held: string }) => Effect.Effect<void, Process.RegtestFailed>
  /** Waits until parts are held under a name, and then forwards or fails them. */
  readonly release: (name: string, word: Word) => Effect.Effect<void, Process.RegtestFailed>
}

const Key = Schema.Struct({ chan_id: Schema.String, htlc_id: Schema.String })
const Asked = Schema.fromJsonString(Schema.Struct({ result: Schema.Struct({ incoming_circuit_key: Key }) }))

const text = 1

/** Encodes a complete client message (RFC 6455). Clients must mask the payload. */
const frame = (opcode: number, payload: Buffer): Buffer => {
  const mask = randomBytes(4)
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff]
  return Buffer.concat([
    Buffer.from([0x80 | opcode, ...length]),
    mask,
    payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  ])
}

/** Returns the first complete server message in these bytes, and the remaining bytes. */
const unframed = (
  bytes: Buffer
): { readonly opcode: number; readonly payload: Buffer; readonly rest: Buffer } | undefined => {
  const short = (bytes[1] ?? 0) & 0x7f
  const begin = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < begin) return undefined
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < begin + length) return undefined
  return {
    opcode: (bytes[0] ?? 0) & 0x0f,
    payload: bytes.subarray(begin, begin + length),
    rest: bytes.subarray(begin + length)
  }
}

const connected = ({
  url,
  certificateFile,
  macaroonFile
}: Lnd.Lnd): Effect.Effect<Duplex, Process.RegtestFailed> =>
  Effect.callback((resume) => {
    const asked = request(new URL("/v2/router/htlcinterceptor?method=POST", url), {
      ca: readFileSync(certificateFile),
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Grpc-Metadata-Macaroon": readFileSync(macaroonFile, "hex")
      }
    })
    const failed = (message: string) =>
      resume(Effect.fail(new Process.RegtestFailed({ message: `interceptor: ${message}` })))
    asked.once("upgrade", (_, socket) => resume(Effect.succeed(socket)))
    asked.once("response", ({ statusCode }) => failed(`status ${statusCode}`))
    asked.once("error", ({ message }) => failed(message))
    asked.end()
  })

/**
 * Intercepts the payments that a node forwards until the scope closes. By default, all of them are forwarded.
 * lnd closes a connection after half a minute and forwards everything that it holds there, so each instruction
 * to hold or fail uses a new connection.
 */
export const make: (node: Lnd.Lnd) => Effect.Effect<Interceptor, never, Scope.Scope> = Effect.fnUntraced(
  function* (node: Lnd.Lnd) {
    let socket: Duplex | undefined
    let what: Word | { readonly held: string } = "RESUME"
    const waiting = new Map<string, Array<typeof Key.Type>>()
    const answer = (key: typeof Key.Type, action: Word) =>
      socket?.write(frame(text, Buffer.from(JSON.stringify({ incoming_circuit_key: key, action }))))

    const asked = (message: string) => {
      const read = Schema.decodeUnknownOption(Asked)(message)
      if (Option.isNone(read)) return // the last message before lnd closes the connection
      const key = read.value.result.incoming_circuit_key
      if (typeof what === "string") answer(key, what)
      else waiting.set(what.held, [...(waiting.get(what.held) ?? []), key])
    }

    const connect = Effect.gen(function* () {
      socket?.destroy()
      const fresh = (socket = yield* connected(node))
      let bytes: Buffer = Buffer.alloc(0)
      fresh.on("error", () => fresh.destroy())
      fresh.on("data", (more: Buffer) => {
        bytes = Buffer.concat([bytes, more])
        for (let next = unframed(bytes); next !== undefined; next = unframed(bytes)) {
          bytes = next.rest
          if (next.opcode === text) asked(next.payload.toString("utf8"))
        }
      })
      // lnd doesn't confirm that interception has begun, but it begins before lnd responds to the next request.
      yield* Lnd.ask(node, LndRest.get("/v1/getinfo"), Schema.Unknown)
    })

    yield* Effect.addFinalizer(() => Effect.sync(() => socket?.destroy()))
    return {
      from: Effect.fnUntraced(function* (now) {
        if (now !== "RESUME") yield* connect
        what = now
      }),
      release: Effect.fnUntraced(function* (name, word) {
        const keys = yield* Process.until(
          `a payment waits for "${name}"`,
          Effect.sync(() => waiting.get(name))
        )
        waiting.delete(name)
        for (const key of keys) answer(key, word)
      })
    }
  }
)
