import { Schema } from "effect"

/** A node, a chain's source or its wallet cannot be used as it is configured: the message says what to do about it. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", { message: Schema.String }) {}
