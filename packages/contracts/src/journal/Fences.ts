import { assert } from "@effect/vitest"
import type { Fence } from "@satrail/core/ledger/Change"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"

/** Claims by record id. A record's task is claimed only once, because repeated transitions must use the same claim. */
const held = new Map<string, Fence>()

/** Returns the claim on the task of this kind and id. The task must be due at `nowMillis`. */
export const fenceOf = Effect.fnUntraced(function* (kind: string, id: string, nowMillis: number) {
  const known = held.get(id)
  if (known !== undefined) return known
  const tasks = yield* (yield* Tasks).claim({ kind, nowMillis, leaseMillis: 4_000_000_000_000, limit: 1000 })
  for (const task of tasks) held.set(task.id, fence(task))
  return held.get(id) ?? assert.fail(`no task for ${id}`)
})
