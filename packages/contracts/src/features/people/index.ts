import * as Person from "@satrail/features/people/core/Person"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { going, invite } from "./Fixtures.ts"

export const people = Feature.make({ subjects: { people: subjectOf(Person.noun, invite, going) } })
