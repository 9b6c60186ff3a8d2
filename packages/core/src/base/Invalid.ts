import { Schema } from "effect"

/** The request is invalid for any caller: `path` is the member that is wrong, `message` says what would be right. */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", {
  path: Schema.String,
  message: Schema.String
}) {}
