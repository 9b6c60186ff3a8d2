import { classes } from "../Errors.ts"

export const { ApprovalByAsker, ApprovalFeeRisen, ApprovalOver } = classes
export const ofCompany = { "approvals.approve": true, "approvals.reject": true } as const
