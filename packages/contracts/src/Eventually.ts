import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"

/**
 * How often a test polls a real node for a result before it fails, and the interval between polls. The first
 * poll is immediate.
 */
export const Patience = Context.Reference<{ readonly tries: number; readonly spacedMillis: number }>(
  "@satrail/contracts/Eventually/Patience",
  {
    defaultValue: () => ({ tries: 2400, spacedMillis: 50 })
  }
)

/**
 * Polls until the condition holds, and returns the value for which it holds. If it never holds, fails and
 * reports the last value.
 */
export const eventually = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  isSo: (seen: A) => boolean
) {
  const { tries, spacedMillis } = yield* Patience
  let seen = yield* look
  for (let left = tries; left > 0 && !isSo(seen); left--) {
    yield* Effect.sleep(spacedMillis)
    seen = yield* look
  }
  if (!isSo(seen)) assert.fail(`the condition did not become true; last seen: ${show(seen)}`)
  return seen
})

const show = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))
