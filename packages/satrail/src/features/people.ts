import { Role } from "@satrail/features/people/core/Role"
import { Schema } from "effect"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import { company, fields, id, idempotencyKey, ids, listed, named, operator, record, text } from "../Fields.ts"

export const { LastPasskey, OwnAccess, PersonMoved, PersonRequired, TooManyPasskeys, TooManyPeople } = classes
export const defaults = { people: { list: [undefined, page] } } as const
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
  }
} as const
/** These take the core's record of a person. */
export const hidden = { people: ["join", "use", "addPasskey", "removePasskey"] } as const
