import * as Nostr from "@satrail/bitcoin/Nostr"
import { Context, Effect, Layer } from "effect"
import * as RelayPeer from "../../sandbox/test/RelayPeer.ts"
import { type Peer, promises } from "../src/Relays.ts"
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
  "one that says that it told and did not": [
    sabotage(() => () => Effect.succeed("taken")),
    [
      "a relay that takes an event has it, to the byte",
      "what a relay refuses is refused",
      "relays that are called at once answer each for itself"
    ]
  ],
  "one that writes events anew": [
    sabotage(
      (publish) =>
        (relay, { content, ...event }) =>
          publish(relay, Nostr.signed({ ...event, content: content.trim().replace("\n", " ") }, RelayPeer.key))
    ),
    ["a relay that takes an event has it, to the byte"]
  ],
  "one that takes what is known for refused": [
    sabotage((publish) => {
      const told = new Set<string>()
      return (relay, event) => {
        if (told.has(event.id)) return Effect.succeed("refused")
        told.add(event.id)
        return publish(relay, event)
      }
    }),
    ["an event that is offered again is taken again, and there once"]
  ],
  "one that takes no answer for a no": [
    sabotage(
      (publish) => (relay, event) => Effect.catchTag(publish(relay, event), "RelayUnreachable", () => Effect.succeed("refused" as const))
    ),
    ["a relay that gives no answer has neither taken nor refused", "relays that are called at once answer each for itself"]
  ]
})
