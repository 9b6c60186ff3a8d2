// For those who embed: the services of each feature, and the records that they answer.
export * as Vouchers from "./vouchers/Vouchers.ts"
export * as Voucher from "./vouchers/Voucher.ts"
export * as Refunds from "../sending/Refunds.ts"
export * as Refund from "../sending/Refund.ts"
