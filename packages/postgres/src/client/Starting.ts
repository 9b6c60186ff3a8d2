import { Effect, Layer } from "effect"
import * as PgClient from "./PgClient.ts"

/** How long a program waits for a database that is not running yet, and the interval between attempts. */
export const limitSeconds = { total: 60, pause: 1 } as const

/**
 * Repeats a connection while the database may be starting, and logs one line about it. Fails with the last error after the
 * limit, and immediately with an error that waiting doesn't solve, such as a wrong password.
 */
export const awaiting = <A>(
  connect: Effect.Effect<A, PgClient.DatabaseUnreachable>
): Effect.Effect<A, PgClient.DatabaseUnreachable> => {
  const attempts = limitSeconds.total / limitSeconds.pause
  return connect.pipe(
    Effect.tapError((error) =>
      error.isStarting
        ? Effect.logWarning(`database: ${error.message} Waiting up to ${limitSeconds.total} s for it.`)
        : Effect.void
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

/** Waits until the database can be reached. */
export const reached = (options: PgClient.Options): Effect.Effect<void, PgClient.DatabaseUnreachable> =>
  awaiting(Effect.scoped(Effect.asVoid(Layer.build(PgClient.layer({ ...options, maxConnections: 1 })))))

/** Like `PgClient.layer`, but waits for a database that is not running yet. */
export const layer = (options: PgClient.Options): ReturnType<typeof PgClient.layer> =>
  PgClient.layer(options).pipe(
    Layer.catch((error) =>
      error.isStarting
        ? Layer.unwrap(Effect.as(reached(options), PgClient.layer(options)))
        : Layer.effectContext(Effect.fail(error))
    )
  )
