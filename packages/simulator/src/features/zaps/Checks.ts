import { zaps as core } from "@satrail/features/zaps/core"
import * as Feature from "../Feature.ts"

export const zaps = Feature.make(core)({
  changes: { ZapReceipted: { never: "no simulated wallet requests a public receipt" } }
})
