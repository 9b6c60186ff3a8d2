import { transfers as core } from "@satrail/features/transfers/core"
import * as Feature from "../Feature.ts"

const never = "the contract for transfers tests this, with concurrent changes"

export const transfers = Feature.make(core)({
  changes: { TransferSent: { never }, TransferReturned: { never } }
})
