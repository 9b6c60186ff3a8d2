import { classes } from "../Errors.ts"

export const { ApprovalByAsker, ApprovalFeeRisen, ApprovalOver } = classes
export const options = { approvals: { approve: ["apiKey company id"], reject: ["apiKey company id"] } } as const
export const ofCompany = { "approvals.approve": true, "approvals.reject": true } as const
