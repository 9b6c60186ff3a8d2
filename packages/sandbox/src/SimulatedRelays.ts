import * as Nostr from "@satrail/bitcoin/Nostr"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"

/**
 * How a relay behaves: it accepts events (`takes`, the default), rejects them (`refuses`), or doesn't respond
 * (`away`).
 */
export type Behaviour = "takes" | "refuses" | "away"

/** The relays' contents and behavior. */
export class SimulatedRelays extends Context.Service<
  SimulatedRelays,
  {
    /** The events that a relay accepted, each once. */
    readonly events: (relay: string) => Effect.Effect<ReadonlyArray<Nostr.Event>>
    readonly behave: (relay: string, behaviour: Behaviour) => Effect.Effect<void>
  }
>()("@satrail/sandbox/SimulatedRelays") {}

interface Relay {
  readonly behaviour: Behaviour
  readonly events: ReadonlyArray<Nostr.Event>
}

const unknown: Relay = { behaviour: "takes", events: [] }

const take = (relay: Relay, event: Nostr.Event): Relay =>
  relay.events.some(({ id }) => id === event.id) ? relay : { ...relay, events: [...relay.events, event] }

/** All relays, in memory. Each accepts a valid event once. */
export const layer: Layer.Layer<Nostr.Relays | SimulatedRelays> = Layer.effectContext(
  Effect.gen(function* () {
    const relays = yield* Ref.make(HashMap.empty<string, Relay>())
    const relayAt = (all: HashMap.HashMap<string, Relay>, url: string) =>
      Option.getOrElse(HashMap.get(all, url), () => unknown)
    const control = SimulatedRelays.of({
      events: (url) => Effect.map(Ref.get(relays), (all) => relayAt(all, url).events),
      behave: (url, behaviour) =>
        Ref.update(relays, (all) => HashMap.set(all, url, { ...relayAt(all, url), behaviour }))
    })
    const port = Nostr.Relays.of({
      publish: (url, event) =>
        Effect.gen(function* () {
          const relay = relayAt(yield* Ref.get(relays), url)
          if (relay.behaviour === "away")
            return yield* new Nostr.RelayUnreachable({
              relay: url,
              cause: new Error("The sandbox relay is unavailable")
            })
          if (relay.behaviour === "refuses" || !Nostr.isGenuine(event)) return "refused"
          yield* Ref.update(relays, (all) => HashMap.set(all, url, take(relayAt(all, url), event)))
          return "taken"
        })
    })
    return Context.make(SimulatedRelays, control).pipe(Context.add(Nostr.Relays, port))
  })
)
