import * as Nostr from "@satrail/bitcoin/Nostr"
import { Context, Effect, Layer } from "effect"
import * as RelayPeer from "../../sandbox/test/RelayPeer.ts"
import { type Peer, promises } from "../src/nodes/Relays.ts"
import { bites } from "./mutants.ts"

type Sound = Nostr.Relays | Peer
type Publish = Nostr.Relays["Service"]["publish"]

const sabotage = (spoil: (publish: Publish) => Publish): Layer.Layer<Sound> =>
  Layer.provide(
    Layer.effectContext(
      Effect.map(Effect.context<Sound>(), (context) =>
        Context.add(context, Nostr.Relays, { publish: spoil(Context.get(context, Nostr.Relays).publish) })
      )
    ),
    RelayPeer.layer
  )

bites("Relays", promises, RelayPeer.layer, {
  "a relay client that reports an unsent event as accepted": [
    sabotage(() => () => Effect.succeed("taken")),
    [
      "an event that a relay accepts is stored byte for byte",
      "a relay's rejection is reported as rejected",
      "when publishing to several relays concurrently, each relay has its own result"
    ]
  ],
  "a relay client that rewrites events": [
    sabotage(
      (publish) =>
        (relay, { content, ...event }) =>
          publish(
            relay,
            Nostr.signed({ ...event, content: content.trim().replace("\n", " ") }, RelayPeer.key)
          )
    ),
    ["an event that a relay accepts is stored byte for byte"]
  ],
  "a relay client that reports a known event as rejected": [
    sabotage((publish) => {
      const told = new Set<string>()
      return (relay, event) => {
        if (told.has(event.id)) return Effect.succeed("refused")
        told.add(event.id)
        return publish(relay, event)
      }
    }),
    ["an event that is sent twice is accepted twice and stored once"]
  ],
  "a relay client that reports an outage as a rejection": [
    sabotage(
      (publish) => (relay, event) =>
        Effect.catchTag(publish(relay, event), "RelayUnreachable", () => Effect.succeed("refused" as const))
    ),
    [
      "a relay that does not respond is reported as unreachable, neither accepted nor rejected",
      "when publishing to several relays concurrently, each relay has its own result"
    ]
  ]
})
