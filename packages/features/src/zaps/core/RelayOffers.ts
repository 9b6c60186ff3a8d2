import * as Nostr from "@satrail/bitcoin/Nostr"
import { Clock, Effect } from "effect"

/** Timeout of a relay. */
export const relayMillis = 10_000

/**
 * How long a relay that did not respond is sent no other receipts of the same Lightning address, and for how many
 * pairs of address and relay this is remembered. Other addresses are not affected, because any payer may cause it.
 */
const rest = { millis: 30_000, most: 10_000 } as const

/** A relay's verdict. `unknown`: offer the receipt again, but not before `notBeforeMillis`. */
export type Verdict =
  | { readonly _tag: "taken" | "refused" }
  | { readonly _tag: "unknown"; readonly notBeforeMillis: number }

/** Offers receipts to relays. `lane` is the Lightning address. */
export const make = Effect.map(Nostr.Relays, (relays) => {
  const restsUntil = new Map<string, number>()

  const unknown = (key: string, notBeforeMillis: number): Verdict => {
    restsUntil.delete(key)
    restsUntil.set(key, notBeforeMillis)
    const [oldest] = restsUntil.keys()
    if (restsUntil.size > rest.most && oldest !== undefined) restsUntil.delete(oldest)
    return { _tag: "unknown", notBeforeMillis }
  }

  return Effect.fnUntraced(function* (
    lane: string,
    relay: string,
    event: Nostr.Event
  ): Effect.fn.Return<Verdict> {
    const key = `${lane} ${new URL(relay).host}`
    const notBeforeMillis = restsUntil.get(key) ?? 0
    if (notBeforeMillis > (yield* Clock.currentTimeMillis)) return { _tag: "unknown", notBeforeMillis }
    return yield* relays.publish(relay, event).pipe(
      Effect.timeoutOrElse({
        duration: relayMillis,
        orElse: () =>
          Effect.fail(
            new Nostr.RelayUnreachable({ relay, cause: new Error(`no response within ${relayMillis} ms`) })
          )
      }),
      Effect.map((_tag): Verdict => ({ _tag })),
      Effect.catchTag("RelayUnreachable", (unreachable) =>
        Effect.andThen(
          Effect.logInfo("zap receipt: not accepted by a relay", unreachable),
          Effect.map(Clock.currentTimeMillis, (nowMillis) => unknown(key, nowMillis + rest.millis))
        )
      )
    )
  })
})
