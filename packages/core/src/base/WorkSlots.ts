import { Effect, Latch, type Scope } from "effect"
import * as Worker from "./Worker.ts"

/** A kind of work, and how many of its tasks run concurrently. */
export interface WorkQueue<A, E> {
  readonly name: string
  readonly slots: number
  /**
   * Claims tasks for up to `free` slots. `isMore` reports whether more tasks may be left or waiting for a
   * slot.
   */
  readonly claim: (
    free: number
  ) => Effect.Effect<{ readonly claims: ReadonlyArray<A>; readonly isMore: boolean }, E>
  /** Processes one task, and handles all of its failures. */
  readonly work: (claim: A) => Effect.Effect<void>
}

/**
 * Until the scope closes, refills each slot as soon as it is free, so that a slow task does not delay the
 * others. Waits for `wake` when there is nothing to claim. Stops claiming when `isStopping` returns true, and
 * finishes started tasks before the scope closes.
 */
export const keepFilled = <A, E>(
  queue: WorkQueue<A, E>,
  wake: Effect.Effect<void>,
  isStopping: () => boolean
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const freed = yield* Latch.make(false)
    let used = 0
    let isMore = false
    const finish = Effect.suspend(() => {
      used--
      return freed.open
    })
    const fill = Effect.gen(function* () {
      isMore = false
      while (used < queue.slots && !isStopping()) {
        yield* freed.close
        const claimed = yield* queue.claim(queue.slots - used)
        isMore = claimed.isMore
        used += claimed.claims.length
        for (const claim of claimed.claims)
          yield* Effect.forkDetach(Effect.ensuring(queue.work(claim), finish))
        if (claimed.claims.length === 0 || !isMore) return
      }
      isMore = true
    })
    const idle: Effect.Effect<void> = Effect.andThen(
      freed.close,
      Effect.suspend(() => (used === 0 ? Effect.void : Effect.andThen(freed.await, idle)))
    )
    yield* Effect.addFinalizer(() => idle)
    yield* Worker.run(
      queue.name,
      fill,
      Effect.suspend(() => (isMore ? Effect.race(freed.await, wake) : wake))
    )
  })

/**
 * Fills every slot once, and waits until all are free again. Returns the number of tasks. If a later claim
 * fails, tasks that are already claimed are still finished.
 */
export const fillOnce = <A, E>(queue: WorkQueue<A, E>): Effect.Effect<number, E> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    const claimed = Effect.gen(function* () {
      while (all.length < queue.slots) {
        const { claims } = yield* queue.claim(queue.slots - all.length)
        if (claims.length === 0) break
        all.push(...claims)
      }
    })
    const worked = Effect.suspend(() =>
      Effect.forEach(all, queue.work, { concurrency: "unbounded", discard: true })
    )
    yield* Effect.ensuring(claimed, worked)
    return all.length
  })
