import { People as Service } from "@satrail/core/features/people/People"
import { Effect, Layer } from "effect"
import { PersonRead } from "../../api/PersonRead.ts"
import * as Feature from "../Feature.ts"
import * as OperatorPeople from "./OperatorPeople.ts"
import * as PasskeySession from "./PasskeySession.ts"
import * as People from "./People.ts"
import { errors } from "./PeopleErrors.ts"

export const people = Feature.make({
  sections: [People.section],
  operatorSections: [OperatorPeople.section],
  errors,
  provides: [
    Layer.effect(
      PersonRead,
      Effect.map(
        Service,
        ({ get }) =>
          (id: string) =>
            Effect.map(get(id), OperatorPeople.view.of)
      )
    )
  ],
  console: [PasskeySession.routes]
})
