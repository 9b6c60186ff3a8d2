import { adjustments as core } from "@satrail/features/adjustments/core"
import * as Feature from "../Feature.ts"

export const adjustments = Feature.make(core)({
  changes: {
    AdjustmentBooked: {
      never: "scenarios have one operator; the contract for adjustments tests this, with concurrent changes"
    }
  }
})
