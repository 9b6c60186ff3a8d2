import { Clock, Effect } from "effect"

/**
 * How long a process goes on with what it read about an API key and its company's plan, a stop, or a Lightning address, so that a busy caller's every request
 * does not ask the store. A Change that somebody may rely on at once is answered only when that time is over, everywhere.
 */
export const knownMillis = 200

// Two processes' clocks do not run at exactly the same speed.
const marginMillis = 50

/** Returns when no process goes by what was so before. */
export const everywhere = Effect.sleep(knownMillis + marginMillis)

/** How many names are known at once: beyond them each is asked for anew. */
const maxKnown = 10_000

/** What was read for a name, for as long as it may be gone by, where it `lasts`. A clock that was put back makes nothing younger. */
export const remembering = <Name extends string, A, E>(
  read: (name: Name) => Effect.Effect<A, E>,
  lasts: (value: A) => boolean = () => true
) => {
  const known = new Map<string, { readonly value: A; readonly readAtMillis: number }>()
  return (name: Name): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      const nowMillis = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const before = known.get(name)
      if (before !== undefined && nowMillis >= before.readAtMillis && nowMillis < before.readAtMillis + knownMillis)
        return Effect.succeed(before.value)
      return Effect.map(read(name), (value) => {
        if (!lasts(value)) return value
        if (known.size >= maxKnown) known.clear()
        known.set(name, { value, readAtMillis: nowMillis })
        return value
      })
    })
}
