import { Layer } from "effect"
import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as People from "./People.ts"
import * as PeopleHooks from "./PeopleHooks.ts"
import * as Person from "./Person.ts"
import * as Session from "./Session.ts"
import * as Sessions from "./Sessions.ts"

/** People who sign in with a passkey, and the sessions of everybody who signs in: with a key, token or passkey. */
export const people = Feature.make({
  name: "people",
  nouns: [Person.noun, Session.noun],
  lives: [Person.life, Session.life],
  changes: Feature.changes<
    | Person.Changes
    | Session.SessionStarted
    | Session.SessionStartedAgain
    | Session.SessionSteppedUp
    | Session.SessionEnded
  >(),
  limits: [
    ["people in a company, or on the operator's team", `${Person.maxPeople}`],
    ["open invitations of a company", `${Person.maxInvited}`],
    ["passkeys of a person", `${Person.maxPasskeys}`],
    ["days for which an invitation is valid (single use)", `${Person.invitationMillis / 86_400_000}`],
    ["lifetime of a console session, hours", `${Session.lifeMillis / 3_600_000}`],
    ["console sessions per person, key or token (the next sign-in ends the oldest)", `${Session.slots}`],
    [
      "time for which a re-entered key permits moving money in the console, minutes",
      `${Session.stepUpMillis / 60_000}`
    ]
  ],
  layer: Layer.mergeAll(
    Traced.over(People.People, People.layer),
    Traced.over(Sessions.Sessions, Sessions.layer)
  ),
  extensions: PeopleHooks.layer
})
