import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { StoreUnavailable } from "@satrail/core/Journal"

const outages = new Set<SqlError.SqlError["reason"]["_tag"]>([
  "ConnectionError",
  "DeadlockError",
  "SerializationError",
  "LockTimeoutError",
  "StatementTimeoutError",
  // The password was changed or a right was taken away while we run: a person can put that right without us.
  "AuthenticationError",
  "AuthorizationError"
])

/** An outage is the caller's to retry. Anything else the database refuses is our mistake. */
export const translate =
  (operation: string) =>
  (error: SqlError.SqlError): Effect.Effect<never, StoreUnavailable> =>
    outages.has(error.reason._tag) ? Effect.fail(new StoreUnavailable({ operation, cause: error })) : Effect.die(error)

/** The answer to who was turned away before the database was asked. */
export const turnedAway = (operation: string) => (why: "overloaded" | "closed") =>
  new StoreUnavailable({ operation, why, cause: new Error(why === "overloaded" ? "too many are waiting already" : "the store is closed") })
