import { assert, it } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { WebSocket } from "ws"
import * as Outbound from "../src/Outbound.ts"
import * as WebSocketSessions from "../src/WebSocketSessions.ts"
import * as LocalRelay from "./LocalRelay.ts"
import * as LocalServer from "./LocalServer.ts"

const key = Redacted.make("21".repeat(32))
const to = "ab".repeat(32)
const event = (content: string) =>
  Nostr.signed({ kind: 23195, created_at: 1_700_000_000, tags: [["p", to]], content }, key)
const filter = { kinds: [23195], to, by: Nostr.publicKeyOf(key), sinceSeconds: 1_700_000_000 }

/** Starts a local relay with scripted responses, and returns its port. */
const scripted = (does: (socket: WebSocket, said: string) => void) =>
  Effect.map(LocalServer.make, ({ port, server }) => {
    server.on("connection", (socket) => socket.on("message", (data) => does(socket, String(data))))
    return port
  })

const open = (port: number) =>
  Effect.flatMap(Nostr.Sessions, (sessions) => sessions.open("wss://relay.example", filter)).pipe(
    Effect.provide(
      Layer.provide(
        WebSocketSessions.layer,
        Outbound.layer({ allow: new Map([["relay.example", new URL(`http://127.0.0.1:${port}`)]]) })
      )
    )
  )

it.live(
  "relay session: stored events arrive first, then published ones, and events outside the subscription never arrive",
  () =>
    Effect.gen(function* () {
      const relay = yield* LocalRelay.make
      const [stored, old, another, later] = [
        event("stored"),
        event("old"),
        event("of another kind"),
        event("later")
      ]
      relay.send(stored)
      relay.send(Nostr.signed({ ...old, created_at: 1_600_000_000 }, key))
      relay.send(Nostr.signed({ ...another, kind: 1 }, key))
      const session = yield* open(relay.port)
      assert.deepStrictEqual(yield* session.next, stored)
      assert.strictEqual(yield* session.publish(later), "taken")
      assert.deepStrictEqual(yield* session.next, later)
    })
)

it.live("relay session: a lost connection fails all subscribers and pending requests", () =>
  Effect.gen(function* () {
    const port = yield* scripted((socket, said) => {
      if (said.startsWith('["EVENT"')) socket.terminate()
    })
    const session = yield* open(port)
    const [listening, offering] = yield* Effect.all(
      [Effect.flip(session.next), Effect.flip(session.publish(event("lost")))],
      {
        concurrency: "unbounded"
      }
    )
    assert.deepStrictEqual([listening._tag, offering._tag], ["RelayUnreachable", "RelayUnreachable"])
    assert.strictEqual((yield* Effect.flip(session.publish(event("later"))))._tag, "RelayUnreachable")
  })
)

it.live("relay session: messages from a hostile relay are ignored or end the connection", () =>
  Effect.gen(function* () {
    const said = [
      "no JSON",
      "[]",
      "{}",
      '["EVENT"]',
      '["EVENT","another subscription",{}]',
      '["EVENT","satrail",{"id":"short"}]',
      '["OK",1,2,3]',
      '["NOTICE","hello"]',
      JSON.stringify(["EVENT", "satrail", { ...event("x"), tags: "none" }]),
      JSON.stringify([
        "EVENT",
        "satrail",
        { ...event("x"), tags: Array.from({ length: WebSocketSessions.maxValues }, () => []) }
      ])
    ]
    const port = yield* scripted((socket, text) => {
      if (!text.startsWith('["REQ"')) return
      for (const one of said) socket.send(one)
      socket.send(JSON.stringify(["EVENT", "satrail", event("at last")]))
    })
    assert.strictEqual((yield* (yield* open(port)).next).content, "at last")
    const ends = [
      JSON.stringify(["EVENT", "satrail", event("x".repeat(WebSocketSessions.maxBytes))]),
      '["CLOSED","satrail","auth-required: who are you?"]'
    ]
    for (const end of ends) {
      const hostile = yield* scripted((socket, text) => {
        if (text.startsWith('["REQ"')) socket.send(end)
      })
      assert.strictEqual((yield* Effect.flip((yield* open(hostile)).next))._tag, "RelayUnreachable")
    }
  })
)

it.live("relay session: a relay that sends too many other messages, pings or pongs is disconnected", () =>
  Effect.gen(function* () {
    const others: ReadonlyArray<(socket: WebSocket) => void> = [
      (socket) => socket.send("no JSON"),
      (socket) => socket.send('["NOTICE",""]'),
      (socket) => socket.send('["EVENT","satrail",{}]'),
      (socket) => socket.send(`["OK","${"00".repeat(32)}",true,""]`),
      (socket) => socket.pong()
    ]
    for (const [at, send] of others.entries())
      for (const [count, isOpen] of [
        [WebSocketSessions.maxOthers, true],
        [WebSocketSessions.maxOthers + 1, false]
      ] as const) {
        const port = yield* scripted((socket, text) => {
          if (!text.startsWith('["REQ"')) return
          for (let n = 0; n < count; n++) send(socket)
          socket.send(JSON.stringify(["EVENT", "satrail", event("at last")]))
        })
        const next = Effect.scoped(Effect.flatMap(open(port), (session) => session.next))
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(next)), isOpen, `${at}: ${count}`)
      }
  })
)

it.live(
  "relay session: every event from a flooding relay is delivered, in order, as the reader fetches it",
  () =>
    Effect.gen(function* () {
      const count = 4 * WebSocketSessions.maxWaiting
      let sent = 0
      const port = yield* scripted((socket, text) => {
        if (text.startsWith('["REQ"'))
          for (let n = 0; n < count; n++)
            socket.send(JSON.stringify(["EVENT", "satrail", event(String(n))]), () => (sent += 1))
      })
      const session = yield* open(port)
      for (let n = 0; n < count; n++) assert.strictEqual((yield* session.next).content, String(n))
      assert.strictEqual(sent, count)
    })
)

it.live("relay session: no more events per second are read from a flooding relay than the maximum", () =>
  Effect.gen(function* () {
    const count = 3 * WebSocketSessions.maxPerSecond
    const said = JSON.stringify(["EVENT", "satrail", event("one")])
    const port = yield* scripted((socket, text) => {
      if (text.startsWith('["REQ"')) for (let n = 0; n < count; n++) socket.send(said)
    })
    const began = performance.now() // before the session counts seconds, so a busy machine can only take longer
    const session = yield* open(port)
    for (let n = 0; n < count; n++) yield* session.next
    // The last chunks of a second hold more events than the maximum allows.
    assert.isAtLeast(performance.now() - began, 990)
  })
)

it.effect(
  "relay session: a relay that no longer reads is disconnected, even if it sends pongs, but one that responds to pings is not",
  () =>
    Effect.gen(function* () {
      const steady = yield* Effect.flatMap(LocalRelay.make, (relay) => open(relay.port))
      for (let n = 0; n < 3; n++) {
        yield* TestClock.adjust(WebSocketSessions.pingMillis)
        assert.strictEqual(yield* steady.publish(event(String(n))), "taken")
      }
      const { port, server } = yield* LocalServer.make
      const speak = () => {
        for (const socket of server.clients) {
          socket.pause()
          socket.pong()
          socket.send(JSON.stringify(["EVENT", "satrail", event("spoken")]))
        }
      }
      server.on("connection", (socket) => socket.once("message", speak))
      const session = yield* open(port)
      yield* session.next
      yield* TestClock.adjust(WebSocketSessions.pingMillis)
      speak()
      yield* session.next
      const end = yield* Effect.forkChild(session.next)
      yield* TestClock.adjust(WebSocketSessions.pingMillis)
      assert.strictEqual(end.pollUnsafe()?._tag, "Failure")
    })
)

it.live("C49: relay session: no connection is made to an internal address or to a URL without TLS", () =>
  Effect.gen(function* () {
    const outbound = Outbound.layer({ lookup: () => Promise.resolve(["127.0.0.1"]) })
    const sessions = yield* Effect.provide(Nostr.Sessions, Layer.provide(WebSocketSessions.layer, outbound))
    for (const url of ["wss://inside.example.com", "ws://relay.example", "wss://127.0.0.1"])
      assert.strictEqual((yield* Effect.flip(sessions.open(url, filter)))._tag, "RelayUnreachable")
  })
)
