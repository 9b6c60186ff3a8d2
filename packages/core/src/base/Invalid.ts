import { Schema } from "effect"

/**
 * The request would be invalid from any caller. `path` names the invalid field. `message` is a predicate such
 * as "must be a UUID", or a full sentence.
 */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", {
  path: Schema.String,
  message: Schema.String
}) {}

/** Returns a message about a field as a sentence: `amount must be greater than 0`. */
export const sentence = (path: string, message: string): string =>
  path !== "" && /^(?:must|is|or|requires|cannot) /.test(message) ? `${path} ${message}` : message
