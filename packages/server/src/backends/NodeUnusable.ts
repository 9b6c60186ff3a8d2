import { Schema } from "effect"

/** A node, a block source or the wallet cannot be used as configured. The message states the remedy. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", {
  message: Schema.String
}) {}
