// For those who embed: the services of each feature, and the records that they answer.
export * as Checkouts from "./checkouts/Checkouts.ts"
export * as Checkout from "./checkouts/Checkout.ts"
export * as Vouchers from "./vouchers/Vouchers.ts"
export * as Voucher from "./vouchers/Voucher.ts"
export * as Refunds from "./refunds/Refunds.ts"
export * as Refund from "./refunds/Refund.ts"
export * as Zaps from "./zaps/Zaps.ts"
