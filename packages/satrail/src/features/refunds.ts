import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { NotRefundable, RefundNotOpen, RefundTooLarge } = classes
export const defaults = {
  refunds: {
    create: [
      {
        asked: undefined,
        checkoutId: undefined,
        depositId: undefined,
        invoiceId: undefined,
        destination: undefined,
        description: "",
        expirySeconds: Voucher.expirySeconds.default,
        metadata: {},
        onCheckout: true
      }
    ],
    list: [undefined, page]
  }
} as const
export const options = {
  refunds: {
    create: [
      "amount apiKey checkoutId company depositId description destination expirySeconds idempotencyKey invoiceId metadata onCheckout"
    ],
    list: [undefined, listed]
  }
} as const
export const ofCompany = { "refunds.create": true } as const
