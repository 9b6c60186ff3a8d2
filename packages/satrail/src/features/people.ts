import { Holder } from "@satrail/features/people/core/Session"
import { Role } from "@satrail/features/people/core/Role"
import { Schema } from "effect"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import { company, fields, id, idempotencyKey, ids, listed, named, operator, record, text } from "../Fields.ts"

export const {
  LastPasskey,
  OwnAccess,
  PersonMoved,
  PersonRequired,
  SessionMoved,
  TooManyPasskeys,
  TooManyPeople
} = classes
export const defaults = { people: { list: [undefined, page] } } as const
const bound = named("bound", Schema.optional(text))
const granting = Schema.Union([
  record({ _tag: Schema.Literal("Operator"), operator }),
  record({ _tag: Schema.Literals(["Person", "Key"]), id: text })
])
export const parameters = {
  people: {
    invite: [fields({ by: granting, company, idempotencyKey, name: text, role: Role })],
    approve: [id, operator],
    recover: [...ids, granting],
    promote: [...ids, named("role", Role), granting],
    remove: [...ids, granting],
    get: [id],
    list: [company, listed],
    standing: [id],
    invited: [named("text", text)]
  },
  sessions: {
    begin: [fields({ company, holder: Holder, holderId: text }), bound],
    check: [named("text", text), bound]
  }
} as const
/** These take the core's record of a person or a session. */
export const hidden = {
  people: ["join", "use", "addPasskey", "removePasskey"],
  sessions: ["stepUp", "end"]
} as const
