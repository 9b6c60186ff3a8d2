import { Holder } from "@satrail/features/sessions/core/Session"
import { Schema } from "effect"
import { classes } from "../Errors.ts"
import { company, fields, named, text } from "../Fields.ts"

export const { SessionMoved } = classes
const bound = named("bound", Schema.optional(text))
export const parameters = {
  sessions: {
    begin: [fields({ company, holder: Holder, holderId: text }), bound],
    check: [named("text", text), bound]
  }
} as const
/** These take the core's record of a session. */
export const hidden = { sessions: ["stepUp", "end"] } as const
