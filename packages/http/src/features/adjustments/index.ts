import * as Feature from "../Feature.ts"
import * as Adjustments from "./Adjustments.ts"

export const adjustments = Feature.make({
  operatorSections: [Adjustments.section],
  errors: Adjustments.errors,
  views: { adjustment: Adjustments.own }
})
