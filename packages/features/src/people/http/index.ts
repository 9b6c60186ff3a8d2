import { People as Service } from "../core/People.ts"
import { Effect, Layer } from "effect"
import { PersonRead } from "@satrail/http/api/PersonRead"
import { SignedIn } from "@satrail/http/api/SignedIn"
import * as Feature from "@satrail/http/api/Feature"
import * as ConsoleSession from "./ConsoleSession.ts"
import * as OperatorPeople from "./OperatorPeople.ts"
import * as PasskeySession from "./PasskeySession.ts"
import * as People from "./People.ts"
import { errors } from "./PeopleErrors.ts"
import * as Session from "./Session.ts"

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
    ),
    Layer.effect(SignedIn, Session.make)
  ],
  console: [PasskeySession.routes, ConsoleSession.routes]
})
