import * as Feature from "@satrail/http/api/Feature"
import * as Approvals from "./Approvals.ts"

export const approvals = Feature.make({
  send: Approvals.operations,
  operator: [Approvals.rejectAsOperator],
  errors: Approvals.errors
})
