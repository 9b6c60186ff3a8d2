import { Effect } from "effect"
import { StoreUnavailable } from "./Journal.ts"

/** Maximum number of retries. Only very many concurrent changes of one record need more. */
const maxRetries = 20

/**
 * Repeats a change, which reads a record, checks it and commits, while its commit is refused with the error `Moved`
 * because the record changed in between. Then fails like an overloaded store.
 */
export const retryIfMoved = <M>(Moved: abstract new (...args: never) => M) => {
  const isMoved = (error: unknown): error is M => error instanceof Moved
  return <A, E, R>(change: Effect.Effect<A, E | M, R>): Effect.Effect<A, E | StoreUnavailable, R> =>
    change.pipe(
      Effect.retry({ times: maxRetries, while: isMoved }),
      Effect.catchIf(isMoved, (cause) => Effect.fail(new StoreUnavailable({ operation: "retryIfMoved", why: "overloaded", cause })))
    )
}
