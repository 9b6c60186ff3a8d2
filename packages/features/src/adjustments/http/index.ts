import * as Feature from "@satrail/http/api/Feature"
import * as Adjustments from "./Adjustments.ts"

export const adjustments = Feature.make({
  read: [Adjustments.ofCompany],
  operatorSections: [Adjustments.section],
  errors: Adjustments.errors,
  views: { adjustment: Adjustments.own }
})
