import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { reasonOf } from "./PgError.ts"

/** For tests: makes the database unavailable. */
export interface Options {
  /**
   * While it returns true, opening a connection fails as if the server were unreachable. Connections in use
   * continue.
   */
  readonly isAway?: (() => boolean) | undefined
}

const error = new SqlError.SqlError({
  reason: reasonOf(new Error("the database is simulated as unavailable"), "connect")
})

/** Opens connections, unless the database is made unavailable. */
export const unless =
  ({ isAway }: Options) =>
  <A, E, R>(connect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    isAway === undefined
      ? connect
      : Effect.suspend((): Effect.Effect<A, E | SqlError.SqlError, R> =>
          isAway() ? Effect.fail(error) : connect
        )
