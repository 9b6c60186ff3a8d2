import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { reasonOf } from "./PgError.ts"

/** For trying: whether the database is out of reach now. */
export interface Options {
  /** While it says so no connection is given, as where the server cannot be reached. What has one goes on. */
  readonly isAway?: (() => boolean) | undefined
}

const error = new SqlError.SqlError({ reason: reasonOf(new Error("the database is away: it was asked to be"), "connect") })

/** What gives connections, unless the database is away. */
export const unless =
  ({ isAway }: Options) =>
  <A, E, R>(connect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    isAway === undefined
      ? connect
      : Effect.suspend((): Effect.Effect<A, E | SqlError.SqlError, R> => (isAway() ? Effect.fail(error) : connect))
