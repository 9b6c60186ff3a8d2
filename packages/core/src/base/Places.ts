import { Effect, Latch, type Scope } from "effect"
import * as Worker from "./Worker.ts"

/** Work of one kind, and how much of it is done at once. */
export interface Line<A, E> {
  readonly name: string
  readonly places: number
  /** Claims what there is to do, for at most so many free places. Says whether there may be more, that it left or that waits for a place. */
  readonly claim: (free: number) => Effect.Effect<{ readonly claims: ReadonlyArray<A>; readonly isMore: boolean }, E>
  /** Does one, whatever goes wrong. */
  readonly work: (claim: A) => Effect.Effect<void>
}

/**
 * Fills each place again as soon as it is free, for as long as the scope is open: a slow one delays no other. With nothing to claim it waits for
 * `wake`. Claims nothing more when it `isStopping`; what has begun is finished before the scope is closed.
 */
export const keepFilled = <A, E>(
  line: Line<A, E>,
  wake: Effect.Effect<void>,
  isStopping: () => boolean
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const freed = yield* Latch.make(false)
    let taken = 0
    let isMore = false
    const finish = Effect.suspend(() => {
      taken--
      return freed.open
    })
    const fill = Effect.gen(function* () {
      isMore = false
      while (taken < line.places && !isStopping()) {
        yield* freed.close
        const claimed = yield* line.claim(line.places - taken)
        isMore = claimed.isMore
        taken += claimed.claims.length
        for (const claim of claimed.claims) yield* Effect.forkDetach(Effect.ensuring(line.work(claim), finish))
        if (claimed.claims.length === 0 || !isMore) return
      }
      isMore = true
    })
    const idle: Effect.Effect<void> = Effect.andThen(
      freed.close,
      Effect.suspend(() => (taken === 0 ? Effect.void : Effect.andThen(freed.await, idle)))
    )
    yield* Effect.addFinalizer(() => idle)
    yield* Worker.run(
      line.name,
      fill,
      Effect.suspend(() => (isMore ? Effect.race(freed.await, wake) : wake))
    )
  })

/** Fills every place once, and waits until all are free again. Answers how many tasks there were. What was claimed is done, also where a later claim fails. */
export const fillOnce = <A, E>(line: Line<A, E>): Effect.Effect<number, E> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    const claimed = Effect.gen(function* () {
      while (all.length < line.places) {
        const { claims } = yield* line.claim(line.places - all.length)
        if (claims.length === 0) break
        all.push(...claims)
      }
    })
    const worked = Effect.suspend(() => Effect.forEach(all, line.work, { concurrency: "unbounded", discard: true }))
    yield* Effect.ensuring(claimed, worked)
    return all.length
  })
