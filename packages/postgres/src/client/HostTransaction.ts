import { Context, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * A satrail write inside the host's `sql.withTransaction`. Nothing was written. It is a programming error,
 * and therefore a defect.
 */
export class WriteInTransaction extends Schema.TaggedError<WriteInTransaction>()("WriteInTransaction", {
  change: Schema.String
}) {
  override get message() {
    return `${this.change} cannot be written inside sql.withTransaction, because satrail commits in its own transactions. Call the service before or after the transaction, and commit your rows together with an event's cursor (docs/guides/embed-database.md, "In your own transaction").`
  }
}

/** Runs a write. Dies if a transaction of this client is open in the calling fiber. */
export const outside = <A, E>(
  sql: SqlClient.SqlClient,
  change: string,
  write: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber(({ context }) =>
    Option.isSome(Context.getOption(context, sql.transactionService))
      ? Effect.die(new WriteInTransaction({ change }))
      : write
  )
