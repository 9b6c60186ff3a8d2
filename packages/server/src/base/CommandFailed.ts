import { Schema } from "effect"

/** The command could not be carried out. The message is for the person at the terminal. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", { message: Schema.String }) {}
