import { Clock, Effect, Latch } from "effect"
import type { Claim } from "./Claim.ts"

/**
 * Claims that this process keeps after a step, because it could not release them while the store was unavailable, or
 * because a later claim would not know until when an earlier call may reach the node.
 */
export const make = () => {
  const kept = new Map<string, { readonly claim: Claim; readonly atMillis: number }>()
  const changed = Latch.makeUnsafe(false)

  return {
    /** Keeps a claim. Its next step is due at this time. */
    keep: (claim: Claim, atMillis: number): void => {
      kept.set(claim.id, { claim: { ...claim, attempts: claim.attempts + 1 }, atMillis })
      changed.openUnsafe()
    },
    /** Returns up to `limit` claims whose next step is due. They are then no longer kept. */
    due: (limit: number): Effect.Effect<ReadonlyArray<Claim>> =>
      Effect.map(Clock.currentTimeMillis, (nowMillis) => {
        const due = [...kept.values()].filter(({ atMillis }) => atMillis <= nowMillis).slice(0, limit)
        for (const { claim } of due) kept.delete(claim.id)
        return due.map(({ claim }) => claim)
      }),
    /** Waits until the next step of a kept claim may be due. */
    wake: Effect.gen(function* () {
      yield* changed.close
      const nextMillis = Math.min(...[...kept.values()].map(({ atMillis }) => atMillis))
      if (nextMillis === Infinity) return yield* changed.await
      const leftMillis = nextMillis - (yield* Clock.currentTimeMillis)
      yield* Effect.raceFirst(Effect.sleep(Math.max(0, leftMillis)), changed.await)
    })
  }
}

export type KeptClaims = ReturnType<typeof make>
