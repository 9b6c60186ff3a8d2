import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"

/** How often a promise looks for what takes a real node its time, before it gives up. What is there at once is not waited for. */
export const Patience = Context.Reference<{ readonly tries: number; readonly spacedMillis: number }>(
  "@satrail/contracts/Eventually/Patience",
  {
    defaultValue: () => ({ tries: 2400, spacedMillis: 50 })
  }
)

/** Looks until it is so, and answers what was seen then. Fails with what was seen last. */
export const eventually = Effect.fnUntraced(function* <A, E, R>(look: Effect.Effect<A, E, R>, isSo: (seen: A) => boolean) {
  const { tries, spacedMillis } = yield* Patience
  let seen = yield* look
  for (let left = tries; left > 0 && !isSo(seen); left--) {
    yield* Effect.sleep(spacedMillis)
    seen = yield* look
  }
  if (!isSo(seen)) assert.fail(`it did not come so far; last seen: ${show(seen)}`)
  return seen
})

const show = (value: unknown) => JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))
