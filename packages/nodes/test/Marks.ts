import { Effect } from "effect"
import type { Mark, Marks } from "../src/Ldk.ts"

/** How far a node was seen to have come, for as long as a test runs. */
export const inMemory = (seen?: Mark): Marks => {
  let kept = seen
  return {
    read: Effect.sync(() => kept),
    write: (mark) => Effect.sync(() => void (kept = mark))
  }
}
