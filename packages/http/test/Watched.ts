import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Memory from "@satrail/service/memory/Memory"
import * as State from "@satrail/memory/State"
import { Equal, HashMap, Layer, Ref } from "effect"

/** All recorded state, grouped by kind. Equal values count as unchanged. */
export type Recorded = ReadonlyMap<string, unknown>

/** Returns the kinds that changed. */
export const differences = (before: Recorded, after: Recorded): ReadonlyArray<string> =>
  [...after.keys()].filter((name) => !Equal.equals(before.get(name), after.get(name)))

// Ignore the keys' time of last use, which may be recorded at any time. The result is cached for each state,
// because it is read before and after every request.
const unused = new WeakMap<object, unknown>()
const withoutUse = (keys: HashMap.HashMap<string, ApiKey.ApiKey>): unknown => {
  const known = unused.get(keys)
  if (known !== undefined) return known
  const made = HashMap.map(keys, (key) => ({ ...key, lastUsedAtMillis: null }))
  unused.set(keys, made)
  return made
}

/** A memory store whose state can be compared. An object counts as changed unless it is identical. */
export const memory = () => {
  const state = Ref.makeUnsafe(State.empty)
  return {
    layer: Layer.provide(Memory.layer, Layer.succeed(Memory.Held, state)),
    look: (): Recorded => {
      const now = Ref.getUnsafe(state)
      const tables = new Map<string, unknown>(now.tables)
      return new Map<string, unknown>([
        // A rejected request is recorded in the audit log, but changes nothing else.
        ...Object.entries({ ...now, tables: undefined, audit: undefined }),
        ...tables,
        [ApiKey.noun.name, withoutUse(State.of(now, ApiKey.noun))]
      ])
    }
  }
}
