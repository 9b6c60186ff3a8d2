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
  // The password was changed or a right was taken away while we run: a person can put that right without us.
  "AuthenticationError",
  "AuthorizationError"
])

const contentions = new Set<SqlError.SqlError["reason"]["_tag"]>([
  "DeadlockError",
  "SerializationError",
  "LockTimeoutError",
  "StatementTimeoutError"
])

/** An outage is the caller's to retry. Anything else the database refuses is our mistake. */
export const translate =
  (operation: string) =>
  (error: SqlError.SqlError): Effect.Effect<never, StoreUnavailable> =>
    outages.has(error.reason._tag) ? Effect.fail(new StoreUnavailable({ operation, cause: error, ...wordsOf(error) })) : Effect.die(error)

/** The answer to who was turned away before the database was asked. */
export const turnedAway = (operation: string) => (why: "overloaded" | "closed") =>
  new StoreUnavailable({ operation, why, cause: new Error(why === "overloaded" ? "too many are waiting already" : "the store is closed") })

/** Whether an outage is the store's, and not that of one Change that others were in the way of. */
export const isWhole = ({ why, cause }: StoreUnavailable): boolean =>
  why === "away" && !(SqlError.isSqlError(cause) && contentions.has(cause.reason._tag))
