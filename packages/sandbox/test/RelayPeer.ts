import { Peer } from "@satrail/contracts/Relays"
import { Effect, Layer, Redacted } from "effect"
import * as PretendRelays from "../src/PretendRelays.ts"

/** Somebody else's key. */
export const key = Redacted.make("22".repeat(32))

const peer = Layer.effect(
  Peer,
  Effect.gen(function* () {
    const { behave, events } = yield* PretendRelays.PretendRelays
    const [takes, refuses, away] = ["wss://takes.example", "wss://refuses.example", "wss://away.example"] as const
    yield* behave(refuses, "refuses")
    yield* behave(away, "away")
    return { takes, refuses, away, events }
  })
)

/** The pretend relays, and their other side. */
export const layer = Layer.provideMerge(peer, PretendRelays.layer)
