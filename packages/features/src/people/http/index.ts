import { People as Service } from "../core/People.ts"
import { Effect, Layer } from "effect"
import { PersonRead } from "@satrail/http/api/PersonRead"
import * as Feature from "@satrail/http/api/Feature"
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
