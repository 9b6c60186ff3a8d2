// The features' errors, for host programs to catch.
export { AdjustmentDecided } from "./adjustments.ts"
export { ApprovalByAsker, ApprovalFeeRisen, ApprovalOver } from "./approvals.ts"
export { CheckoutNotOpen } from "./checkouts.ts"
export {
  LastPasskey,
  OwnAccess,
  PersonMoved,
  PersonRequired,
  SessionMoved,
  TooManyPasskeys,
  TooManyPeople
} from "./people.ts"
export { NotRefundable, RefundNotOpen, RefundTooLarge } from "./refunds.ts"
export { VoucherNotOpen, VoucherRefused } from "./vouchers.ts"
export { EndpointNotEnabled, TooManyEndpoints } from "./webhooks.ts"
