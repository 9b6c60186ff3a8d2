import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { wordsOf } from "./PgError.ts"

const outages = new Set<SqlError.SqlError["reason"]["_tag"]>([
  "ConnectionError",
  "DeadlockError",
  "SerializationError",
  "LockTimeoutError",
  "StatementTimeoutError",
  // The password was changed or a privilege was revoked while the service was running. An operator can restore
  // access without a restart.
  "AuthenticationError",
  "AuthorizationError"
])

const contentions = new Set<SqlError.SqlError["reason"]["_tag"]>([
  "DeadlockError",
  "SerializationError",
  "LockTimeoutError",
  "StatementTimeoutError"
])

/** The caller may retry an outage. Any other database error is our bug. */
export const translate =
  (operation: string) =>
  (error: SqlError.SqlError): Effect.Effect<never, StoreUnavailable> =>
    outages.has(error.reason._tag)
      ? Effect.fail(new StoreUnavailable({ operation, cause: error, ...wordsOf(error) }))
      : Effect.die(error)

/** The error for a caller rejected before the database was queried. */
export const turnedAway = (operation: string) => (why: "overloaded" | "closed") =>
  new StoreUnavailable({
    operation,
    why,
    cause: new Error(why === "overloaded" ? "too many are waiting already" : "the store is closed")
  })

/** Returns whether an outage affects the whole store, and not only a Change that conflicted with others. */
export const isWhole = ({ why, cause }: StoreUnavailable): boolean =>
  why === "away" && !(SqlError.isSqlError(cause) && contentions.has(cause.reason._tag))
