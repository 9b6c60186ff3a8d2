import { adjustments as core } from "@satrail/core/features/adjustments/index"
import * as Feature from "../Feature.ts"

export const adjustments = Feature.make(core)({
  changes: { AdjustmentBooked: { never: "stories have one operator: the promises of adjustments race and break it" } }
})
