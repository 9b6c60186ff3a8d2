import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Memory from "@satrail/memory/Memory"
import * as State from "@satrail/memory/State"
import { Equal, HashMap, Layer, Ref } from "effect"

/** Everything that is recorded, by the name of its kind. What compares as equal is the same. */
export type Recorded = ReadonlyMap<string, unknown>

/** Which kinds are not as they were. */
export const differences = (before: Recorded, after: Recorded): ReadonlyArray<string> =>
  [...after.keys()].filter((name) => !Equal.equals(before.get(name), after.get(name)))

// That a key was used is noted at any time, and nobody asked for it. Looked at before and after every request: once for each state.
const unused = new WeakMap<object, unknown>()
const withoutUse = (keys: HashMap.HashMap<string, ApiKey.ApiKey>): unknown => {
  const known = unused.get(keys)
  if (known !== undefined) return known
  const made = HashMap.map(keys, (key) => ({ ...key, lastUsedAtMillis: null }))
  unused.set(keys, made)
  return made
}

/** A store in memory that can be looked at: what is not the very same object has changed. */
export const memory = () => {
  const state = Ref.makeUnsafe(State.empty)
  return {
    layer: Layer.provide(Memory.layer, Layer.succeed(Memory.Held, state)),
    look: (): Recorded => {
      const now = Ref.getUnsafe(state)
      const tables = new Map<string, unknown>(now.tables)
      return new Map<string, unknown>([
        // That a key was refused is written down, and changes nothing else.
        ...Object.entries({ ...now, tables: undefined, audit: undefined }),
        ...tables,
        [ApiKey.noun.name, withoutUse(State.of(now, ApiKey.noun))]
      ])
    }
  }
}
