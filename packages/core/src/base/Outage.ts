import { Cause, Effect, Option, Schema } from "effect"

/**
 * Human-readable messages in an error about an unavailable dependency, in addition to the technical cause.
 * `/readyz` shows the reason publicly. The log, the startup output and `satrail check` show both.
 */
export const words = {
  /**
   * The problem, as a clause without a period, such as `lnd is locked`. It is public, so it must not contain
   * addresses, paths or secrets.
   */
  reason: Schema.optionalKey(Schema.String),
  /**
   * Instructions for the operator, in full sentences, such as "Unlock its wallet with `lncli unlock`." They may
   * contain addresses and file names, but no secrets.
   */
  remedy: Schema.optionalKey(Schema.String)
}

/** The messages of an error that has them. */
export interface Words {
  readonly reason?: string
  readonly remedy?: string
}

/** Joins reason and remedy; undefined if there is no reason. */
export const text = ({ reason, remedy }: Words): string | undefined =>
  reason === undefined ? undefined : remedy === undefined ? `${reason}.` : `${reason}. ${remedy}`

const Said = Schema.Struct({
  _tag: Schema.Literals(["NodeUnavailable", "ChainUnavailable", "StoreUnavailable"]),
  reason: Schema.String
})

/** Returns the reason for an outage; undefined for other failures, also beside an outage, and for outages without a reason. */
export const reasonOf = (cause: Cause.Cause<unknown>): string | undefined => {
  if (Cause.hasDies(cause)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return Option.getOrUndefined(Schema.decodeUnknownOption(Said)({ ...Object(error) }))?.reason
}

/** Logs an outage with a reason as a warning in one line, and any other failure as an error with its cause. */
export const log = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const reason = reasonOf(cause)
  return reason === undefined ? Effect.logError(message, cause) : Effect.logWarning(`${message}: ${reason}`)
}
