import type * as Core from "../core/PeopleErrors.ts"
import type { PersonMoved } from "../core/Person.ts"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"

export const errors = OwnErrors.make({
  PersonRequired: {
    code: "person_required",
    status: 403,
    meaning: "An API key cannot invite, change or remove people who can send or approve payments.",
    remedy: "Use the console, or ask the operator.",
    message: ({ role }: Core.PersonRequired) =>
      `An API key cannot invite, recover, change or remove a person with the role ${role}. Have an administrator do this in the console, or ask the operator.`
  },
  OwnAccess: {
    code: "own_access",
    status: 403,
    meaning: "You cannot recover your own access, change your own role or remove yourself.",
    remedy: "Ask another administrator or the operator.",
    message: (_: Core.OwnAccess) =>
      "You cannot change your own access. Ask another administrator or the operator."
  },
  PersonMoved: {
    code: "person_changed",
    status: 409,
    meaning: "Another request changed this person's record at the same time.",
    remedy: "Fetch the person again, then repeat the request.",
    message: (_: PersonMoved) => "Another request changed this person at the same time. Try again."
  },
  TooManyPeople: {
    code: "too_many_people",
    status: 409,
    meaning: "The company has the maximum number of people or open invitations.",
    remedy: "Remove a person.",
    message: ({ what, maximum }: Core.TooManyPeople) =>
      `There are already ${maximum} ${what}, the maximum. Remove one first.`
  }
})
