import * as PgClient from "@satrail/postgres/client/PgClient"
import { Effect, Layer } from "effect"
import type { Environment } from "../deployment/Environment.ts"

/** How long the service waits at startup for a database that is not running yet, and the interval between attempts. */
export const limitSeconds = { total: 60, pause: 1 } as const

/**
 * Repeats a connection while the database may be starting, and logs one line about it. Fails with the last error after the
 * limit, and immediately with an error that waiting doesn't solve, such as a wrong password.
 */
export const awaiting = <A>(connect: Effect.Effect<A, PgClient.DatabaseUnreachable>): Effect.Effect<A, PgClient.DatabaseUnreachable> => {
  const attempts = limitSeconds.total / limitSeconds.pause
  return connect.pipe(
    Effect.tapError((error) =>
      error.isStarting ? Effect.logWarning(`database: ${error.message} Waiting up to ${limitSeconds.total} s for it.`) : Effect.void
    ),
    Effect.catch((error) =>
      error.isStarting
        ? Effect.sleep(limitSeconds.pause * 1000).pipe(
            Effect.andThen(connect),
            Effect.retry({ times: attempts - 1, while: ({ isStarting }) => isStarting })
          )
        : Effect.fail(error)
    )
  )
}

/** Waits for the service's database, if it is a server. */
export const reached = ({ databaseUrl }: Environment): Effect.Effect<void, PgClient.DatabaseUnreachable> =>
  databaseUrl === undefined
    ? Effect.void
    : awaiting(Effect.scoped(Effect.asVoid(Layer.build(PgClient.layer({ url: databaseUrl, maxConnections: 1 })))))
