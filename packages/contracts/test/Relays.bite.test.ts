import { assert, describe, it } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Context, Effect, Exit, Layer } from "effect"
import * as RelayPeer from "../../sandbox/test/RelayPeer.ts"
import { Patience } from "../src/Eventually.ts"
import { type Peer, promises } from "../src/Relays.ts"

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

const outcome = (promise: keyof typeof promises, layer: Layer.Layer<Sound>) =>
  Effect.exit(Effect.provideService(Effect.provide(promises[promise], layer, { local: true }), Patience, { tries: 3, spacedMillis: 1 }))

describe("the Relays contract bites", () => {
  const spoiled: Record<string, readonly [Layer.Layer<Sound>, ReadonlyArray<keyof typeof promises>]> = {
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
  }
  for (const [who, [layer, broken]] of Object.entries(spoiled)) {
    for (const promise of broken) {
      it.live(`Relays contract: ${who} breaks: ${promise}`, () =>
        Effect.gen(function* () {
          assert.isTrue(Exit.isSuccess(yield* outcome(promise, RelayPeer.layer)), "nothing is spoiled, and it is kept")
          assert.isTrue(Exit.isFailure(yield* outcome(promise, layer)), "it is spoiled, and it is broken")
        })
      )
    }
  }
})
