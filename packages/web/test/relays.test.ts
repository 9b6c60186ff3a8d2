import { assert, it } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Relays from "@satrail/contracts/nodes/Relays"
import { Effect, Exit, Layer, Redacted } from "effect"
import { createHash } from "node:crypto"
import type { WebSocket } from "ws"
import * as Outbound from "../src/Outbound.ts"
import * as RelaySocket from "../src/RelaySocket.ts"
import * as WebSocketRelays from "../src/WebSocketRelays.ts"
import * as LocalServer from "./LocalServer.ts"
import * as RelayPeer from "./RelayPeer.ts"
import { serve, trusting } from "./Server.ts"

Relays.suite("over WebSocket", RelayPeer.layer)

const event = Nostr.signed(
  { kind: 9735, created_at: 1_700_000_000, tags: [], content: "" },
  Redacted.make("21".repeat(32))
)
const publish = (relay: string) => Effect.flatMap(Nostr.Relays, (relays) => relays.publish(relay, event))

it.live(
  "relays: an error from a busy or broken relay counts as an outage, not as a refusal, so the event is sent again later",
  () =>
    Effect.gen(function* () {
      const { outbound } = yield* RelayPeer.relaysOf({
        "busy.example": [false, "rate-limited: slow down"],
        "broken.example": [false, "error: disk"]
      })
      for (const url of ["wss://busy.example", "wss://broken.example"]) {
        const error = yield* Effect.flip(publish(url)).pipe(
          Effect.provide(Layer.provide(WebSocketRelays.layer, outbound))
        )
        assert.deepStrictEqual([error._tag, error.relay], ["RelayUnreachable", url])
      }
    })
)

it.live(
  "C49: relays: no connection is made to a relay that resolves to an internal address, and the event is not sent again",
  () =>
    Effect.gen(function* () {
      const outbound = Outbound.layer({ lookup: () => Promise.resolve(["127.0.0.1", "::1"]) })
      for (const url of [
        "wss://inside.example.com",
        "wss://127.0.0.1",
        "ws://relay.example",
        "wss://user@relay.example"
      ]) {
        assert.strictEqual(
          yield* publish(url).pipe(Effect.provide(Layer.provide(WebSocketRelays.layer, outbound))),
          "refused"
        )
      }
    })
)

it.live(
  "relays: a relay that sends too many other messages, pings or interim responses before its verdict is disconnected",
  () =>
    Effect.gen(function* () {
      const others: ReadonlyArray<(socket: WebSocket) => void> = [
        (socket) => socket.send('["NOTICE","hello"]'),
        (socket) => socket.ping(),
        (socket) => socket.pong()
      ]
      const publishedAt = (port: number) =>
        Effect.exit(publish("wss://relay.example")).pipe(
          Effect.provide(
            Layer.provide(
              WebSocketRelays.layer,
              Outbound.layer({ allow: new Map([["relay.example", new URL(`http://127.0.0.1:${port}`)]]) })
            )
          )
        )
      for (const send of others)
        for (const [count, isTaken] of [
          [WebSocketRelays.maxOthers, true],
          [WebSocketRelays.maxOthers + 1, false]
        ] as const) {
          const { port, server } = yield* LocalServer.make
          server.on("connection", (socket) =>
            socket.on("message", () => {
              for (let n = 0; n < count; n++) send(socket)
              socket.send(JSON.stringify(["OK", event.id, true, ""]))
            })
          )
          assert.strictEqual(Exit.isSuccess(yield* publishedAt(port)), isTaken)
        }
      const early = yield* serve(({ socket }) =>
        socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(WebSocketRelays.maxOthers + 1))
      )
      assert.isTrue(Exit.isFailure(yield* publishedAt(early.port)))
    })
)

it.live(
  "relays: a relay that sends a message longer than 4 kB is disconnected, because payers choose relays and parsing takes time",
  () =>
    Effect.gen(function* () {
      for (const [bytes, isTaken] of [
        [4096, true],
        [4097, false]
      ] as const) {
        const { port, server } = yield* LocalServer.make
        server.on("connection", (socket) => socket.on("message", () => socket.send(verdict.padEnd(bytes))))
        const outbound = Outbound.layer({
          allow: new Map([["relay.example", new URL(`http://127.0.0.1:${port}`)]])
        })
        const published = Effect.provide(
          publish("wss://relay.example"),
          Layer.provide(WebSocketRelays.layer, outbound)
        )
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(published)), isTaken, `${bytes}`)
      }
    })
)

/** Starts a relay that sends these bytes after the upgrade, each part in a record of its own, and publishes to it. */
const publishedTo = (parts: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    yield* trusting
    const { port } = yield* serve(
      ({ socket, headers }) => {
        const accept = createHash("sha1")
          .update(`${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest("base64")
        const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
        const [first, ...rest] = [Buffer.from(head), ...parts]
        const send = (part: Uint8Array | undefined): void => {
          if (part !== undefined && !socket.destroyed) socket.write(part, () => send(rest.shift()))
        }
        send(first)
      },
      { isSecure: true }
    )
    const outbound = Outbound.layer({ lookup: () => Promise.resolve(["127.0.0.1"]), isAllowed: () => true })
    const layer = Layer.provide(WebSocketRelays.layer, outbound)
    return yield* Effect.exit(publish(`wss://relay.example.com:${port}`)).pipe(
      Effect.provide(layer),
      Effect.timeout(5_000)
    )
  })

const verdict = JSON.stringify(["OK", event.id, true, ""])

it.live("relays: a relay that sends its verdict in too many fragments or chunks is disconnected", () =>
  Effect.gen(function* () {
    const { maxParts } = RelaySocket
    const text = (count: number) => verdict.padEnd(count)
    const fragments = (count: number) => [
      Buffer.concat(
        Array.from(text(count), (one, n) =>
          Buffer.from([(n === 0 ? 1 : 0) | (n === count - 1 ? 0x80 : 0), 1, one.charCodeAt(0)])
        )
      )
    ]
    // One frame. Its header arrives first, and then one byte at a time.
    const chunks = (count: number) => [
      Buffer.from([0x81, 126, count >> 8, count & 0xff]),
      ...Array.from(text(count), (one) => Buffer.from(one))
    ]
    for (const parts of [fragments, chunks])
      for (const [count, isTaken] of [
        [maxParts, true],
        [maxParts + 2, false]
      ] as const)
        assert.strictEqual(
          Exit.isSuccess(yield* publishedTo(parts(count))),
          isTaken,
          `${parts.name} ${count}`
        )
  })
)
