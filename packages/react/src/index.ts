export { Checkout, type CheckoutProps, type Words } from "./Checkout.ts"
export type { Asking, CheckoutState, Refund } from "./State.ts"
export { type CheckoutOptions, type CheckoutView, useCheckout } from "./useCheckout.ts"
