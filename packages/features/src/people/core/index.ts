import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as People from "./People.ts"
import * as PeopleHooks from "./PeopleHooks.ts"
import * as Person from "./Person.ts"

/** People who sign in with a passkey. */
export const people = Feature.make({
  name: "people",
  nouns: [Person.noun],
  lives: [Person.life],
  changes: Feature.changes<Person.Changes>(),
  limits: [
    ["people in a company, or on the operator's team", `${Person.maxPeople}`],
    ["open invitations of a company", `${Person.maxInvited}`],
    ["passkeys of a person", `${Person.maxPasskeys}`],
    ["days for which an invitation is valid (single use)", `${Person.invitationMillis / 86_400_000}`]
  ],
  layer: Traced.over(People.People, People.layer),
  extensions: PeopleHooks.layer
})
