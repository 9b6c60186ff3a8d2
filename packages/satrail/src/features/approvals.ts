import { classes } from "../Errors.ts"
import { apiKey, company, fields, id } from "../Fields.ts"

export const { ApprovalByAsker, ApprovalFeeRisen, ApprovalOver } = classes
const decision = fields({ apiKey, company, id })
export const parameters = {
  approvals: { approve: [decision], reject: [decision], rejectAsOperator: [id], expire: [] }
} as const
export const ofCompany = { "approvals.approve": true, "approvals.reject": true } as const
