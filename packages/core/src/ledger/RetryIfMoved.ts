import { Effect, Semaphore } from "effect"
import { StoreUnavailable } from "./Journal.ts"

/** Maximum number of retries. Only very many concurrent changes of one record, by several processes, need more. */
const maxRetries = 20

/**
 * Repeats a change, which reads a record, checks it and commits, while its commit is refused with the error `Moved`
 * because the record changed in between. Then fails like an overloaded store. Call this once per kind of record, and
 * nest no such changes.
 */
export const retryIfMoved = <M>(Moved: abstract new (...args: never) => M) => {
  const isMoved = (error: unknown): error is M => error instanceof Moved
  // Retries run one at a time. Otherwise, only one of many concurrent changes of a record would take effect per attempt.
  const turn = Semaphore.makeUnsafe(1)
  return <A, E, R>(change: Effect.Effect<A, E | M, R>): Effect.Effect<A, E | StoreUnavailable, R> => {
    const again = turn.withPermit(Effect.retry(change, { times: maxRetries - 1, while: isMoved }))
    return change.pipe(
      Effect.catchIf(isMoved, () => again),
      Effect.catchIf(isMoved, (cause) =>
        Effect.fail(new StoreUnavailable({ operation: "retryIfMoved", why: "overloaded", cause }))
      )
    )
  }
}
