import { Cause, Option, Schema } from "effect"

/**
 * What an error says to people about something that we depend on and that does not serve us, besides the cause that a program gave. `/readyz` shows the
 * reason to anybody; the log, the start and `satrail check` show both.
 */
export const words = {
  /** What is wrong, in a clause without a full stop, such as `lnd is locked`. Anybody may read it: no address, no path, no secret. */
  reason: Schema.optionalKey(Schema.String),
  /** What the operator does about it, in sentences, such as "Unlock its wallet with `lncli unlock`." It may name addresses and files, never a secret. */
  remedy: Schema.optionalKey(Schema.String)
}

/** The words of an error that has them. */
export interface Words {
  readonly reason?: string
  readonly remedy?: string
}

/** Both as one text; undefined where the error does not say why. */
export const text = ({ reason, remedy }: Words): string | undefined =>
  reason === undefined ? undefined : remedy === undefined ? `${reason}.` : `${reason}. ${remedy}`

const Said = Schema.Struct({ _tag: Schema.Literals(["NodeUnavailable", "ChainUnavailable", "StoreUnavailable"]), reason: Schema.String })

/** The reason of a failure that is an outage; undefined where it is another failure, or does not say why. */
export const reasonOf = (cause: Cause.Cause<unknown>): string | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return Option.getOrUndefined(Schema.decodeUnknownOption(Said)({ ...Object(error) }))?.reason
}
