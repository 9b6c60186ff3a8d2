import { Schema } from "effect"
import { Role } from "./Role.ts"

/** An API key cannot invite, recover, change or remove people who can move money, nor promote people to a role that can. */
export class PersonRequired extends Schema.TaggedError<PersonRequired>()("PersonRequired", { role: Role }) {}

/** No one can recover, promote or remove their own account, so an administrator cannot lock themselves out. */
export class OwnAccess extends Schema.TaggedError<OwnAccess>()("OwnAccess", { id: Schema.String }) {}

export class TooManyPeople extends Schema.TaggedError<TooManyPeople>()("TooManyPeople", {
  what: Schema.Literals(["people", "open invitations"]),
  maximum: Schema.Int
}) {}

export class TooManyPasskeys extends Schema.TaggedError<TooManyPasskeys>()("TooManyPasskeys", {
  maximum: Schema.Int
}) {}

/** A person cannot revoke their only passkey. */
export class LastPasskey extends Schema.TaggedError<LastPasskey>()("LastPasskey", { id: Schema.String }) {}
