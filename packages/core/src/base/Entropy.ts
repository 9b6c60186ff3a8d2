import { Context } from "effect"

// One call to the system's generator supplies many ids, because a call costs ten times as much as an id.
const pool = new Uint8Array(2048)
let used = pool.length

/** Returns random bytes from the system's generator. No byte is returned twice. */
const system = (size: number): Uint8Array => {
  if (size > pool.length) return crypto.getRandomValues(new Uint8Array(size))
  if (used + size > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + size)
  pool.fill(0, used, used + size) // don't leave a key's secret in memory
  used += size
  return bytes
}

/** Source of random bytes. Uses the system source unless a simulation provides a seeded one. */
export const Entropy = Context.Reference<(size: number) => Uint8Array>("@satrail/core/base/Entropy", {
  defaultValue: () => system
})
