import { Peer } from "@satrail/contracts/nodes/Relays"
import { Effect, Layer, Redacted } from "effect"
import * as SimulatedRelays from "../src/SimulatedRelays.ts"

/** A key of another Nostr user. */
export const key = Redacted.make("22".repeat(32))

const peer = Layer.effect(
  Peer,
  Effect.gen(function* () {
    const { behave, events } = yield* SimulatedRelays.SimulatedRelays
    const [takes, refuses, away] = [
      "wss://takes.example",
      "wss://refuses.example",
      "wss://away.example"
    ] as const
    yield* behave(refuses, "refuses")
    yield* behave(away, "away")
    return { takes, refuses, away, events }
  })
)

/** The simulated relays, and the contract's peer for them. */
export const layer = Layer.provideMerge(peer, SimulatedRelays.layer)
