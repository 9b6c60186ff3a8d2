import * as IssuedOffer from "@satrail/features/offers/core/IssuedOffer"
import * as Feature from "../Feature.ts"
import { subjectOf } from "../../Subject.ts"
import { offer } from "./Fixtures.ts"
import * as Records from "./Records.ts"

export const offers = Feature.make({
  money: {},
  other: {},
  records: Records.other,
  subjects: { offers: subjectOf(IssuedOffer.noun, offer) }
})
