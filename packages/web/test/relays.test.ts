import { assert, it } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Relays from "@satrail/contracts/Relays"
import { Effect, Layer, Redacted } from "effect"
import * as Outbound from "../src/Outbound.ts"
import * as WebSocketRelays from "../src/WebSocketRelays.ts"
import * as RelayPeer from "./RelayPeer.ts"

Relays.suite("over WebSocket", RelayPeer.layer)

const event = Nostr.signed({ kind: 9735, created_at: 1_700_000_000, tags: [], content: "" }, Redacted.make("21".repeat(32)))
const publish = (relay: string) => Effect.flatMap(Nostr.Relays, (relays) => relays.publish(relay, event))

it.live("relays: an error from a busy or broken relay counts as an outage, not as a refusal, so the event is sent again later", () =>
  Effect.gen(function* () {
    const { outbound } = yield* RelayPeer.relaysOf({
      "busy.example": [false, "rate-limited: slow down"],
      "broken.example": [false, "error: disk"]
    })
    for (const url of ["wss://busy.example", "wss://broken.example"]) {
      const error = yield* Effect.flip(publish(url)).pipe(Effect.provide(Layer.provide(WebSocketRelays.layer, outbound)))
      assert.deepStrictEqual([error._tag, error.relay], ["RelayUnreachable", url])
    }
  })
)

it.live("C49: relays: no connection is made to a relay that resolves to an internal address, and the event is not sent again", () =>
  Effect.gen(function* () {
    const outbound = Outbound.layer({ lookup: () => Promise.resolve(["127.0.0.1", "::1"]) })
    for (const url of ["wss://inside.example.com", "wss://127.0.0.1", "ws://relay.example", "wss://user@relay.example"]) {
      assert.strictEqual(yield* publish(url).pipe(Effect.provide(Layer.provide(WebSocketRelays.layer, outbound))), "refused")
    }
  })
)
