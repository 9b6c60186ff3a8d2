import { Effect } from "effect"
import type { Mark, Marks } from "../src/Ldk.ts"

/** Keeps a node's latest mark in memory for the duration of a test. */
export const inMemory = (seen?: Mark): Marks => {
  let kept = seen
  return {
    read: Effect.sync(() => kept),
    write: (mark) => Effect.sync(() => void (kept = mark))
  }
}
