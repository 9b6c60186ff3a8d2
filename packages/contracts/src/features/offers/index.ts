import * as Offer from "@satrail/core/features/offers/Offer"
import * as Feature from "../Feature.ts"
import { subjectOf } from "../../Subject.ts"
import { offer } from "./Fixtures.ts"
import * as Records from "./Records.ts"

export const offers = Feature.make({
  money: {},
  other: {},
  records: Records.other,
  subjects: { offers: subjectOf(Offer.noun, offer) }
})
