import * as Feature from "../Feature.ts"
import * as OperatorPeople from "./OperatorPeople.ts"
import * as PasskeySession from "./PasskeySession.ts"
import * as People from "./People.ts"
import { errors } from "./PeopleErrors.ts"

export const people = Feature.make({
  sections: [People.section],
  operatorSections: [OperatorPeople.section],
  errors,
  console: [PasskeySession.routes]
})
