import { Schema } from "effect"

/** What was asked for is not something this service does, whoever asks. `path` is the member that is wrong, `message` says what would be right. */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", {
  path: Schema.String,
  message: Schema.String
}) {}
