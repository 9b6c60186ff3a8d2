import * as Person from "@satrail/features/people/core/Person"
import * as Session from "@satrail/features/people/core/Session"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import * as People from "./PersonFixtures.ts"
import * as Sessions from "./SessionFixtures.ts"

export const people = Feature.make({
  subjects: {
    people: subjectOf(Person.noun, People.invite, People.going),
    console_sessions: subjectOf(Session.noun, Sessions.begin, Sessions.going)
  }
})
