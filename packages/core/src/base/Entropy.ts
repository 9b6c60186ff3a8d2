import { Context } from "effect"

// One call to the system's generator fills ids for a while: a call for each id costs ten times the id.
const pool = new Uint8Array(2048)
let used = pool.length

/** Random bytes from the system's generator, each given out once. */
const system = (size: number): Uint8Array => {
  if (size > pool.length) return crypto.getRandomValues(new Uint8Array(size))
  if (used + size > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + size)
  pool.fill(0, used, used + size) // a key's secret does not stay behind
  used += size
  return bytes
}

/** Where random bytes come from: the system, unless a simulation brings its own seeded source. */
export const Entropy = Context.Reference<(size: number) => Uint8Array>("@satrail/core/base/Entropy", { defaultValue: () => system })
