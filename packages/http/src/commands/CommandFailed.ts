import { Schema } from "effect"

/** A command failed. The message is shown at the terminal. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  /** True if the same request may succeed later. */
  isRetryable: Schema.optionalKey(Schema.Boolean)
}) {}
