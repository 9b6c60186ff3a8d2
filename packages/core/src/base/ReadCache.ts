import { Clock, Effect } from "effect"

/**
 * Time for which a process caches a pause, a Lightning address, or an API key with its company's plan. The
 * cache saves a busy caller a store query per request. An operation that must take effect in every process
 * returns only after this time, when no process uses the old value.
 */
export const cacheMillis = 200

/**
 * Time for which a caller may continue with a value that it took from a cache. Also, two processes' clocks do
 * not run at exactly the same speed.
 */
export const marginMillis = 50

/** Returns whether something that began at a time is younger than this. Setting the clock back makes it old. */
export const isYoung = (beganMillis: number, nowMillis: number, millis: number): boolean =>
  nowMillis >= beganMillis && nowMillis < beganMillis + millis

/** Time until no process uses a previously cached value. */
export const expiryMillis = cacheMillis + marginMillis

/** Waits until no process uses a previously cached value. */
export const awaitCacheExpiry = Effect.sleep(expiryMillis)

/** Maximum number of cached names. When it is reached, the cache is cleared. */
const maxKnown = 10_000

/**
 * Caches the result of `read` by name for `millis` if `lasts` accepts it. Setting the clock back does not extend
 * the life of a value.
 */
export const cached = <Name extends string, A, E>(
  read: (name: Name) => Effect.Effect<A, E>,
  lasts: (value: A) => boolean = () => true,
  millis = cacheMillis
) => {
  const known = new Map<string, { readonly value: A; readonly readAtMillis: number }>()
  return (name: Name): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      const nowMillis = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const before = known.get(name)
      if (before !== undefined && isYoung(before.readAtMillis, nowMillis, millis))
        return Effect.succeed(before.value)
      return Effect.map(read(name), (value) => {
        if (!lasts(value)) return value
        if (known.size >= maxKnown) known.clear()
        known.set(name, { value, readAtMillis: nowMillis })
        return value
      })
    })
}
