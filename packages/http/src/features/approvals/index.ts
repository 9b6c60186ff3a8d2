import * as Feature from "../Feature.ts"
import * as Approvals from "./Approvals.ts"

export const approvals = Feature.make({ send: Approvals.operations, operator: [Approvals.rejectAsOperator], errors: Approvals.errors })
