import * as Http from "@satrail/http/features/vouchers/Vouchers"
import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { VoucherNotOpen, VoucherRefused } = classes
export const defaults = {
  vouchers: {
    create: [{ description: "", expirySeconds: Voucher.expirySeconds.default, metadata: {} }],
    list: [undefined, page]
  }
} as const
export const options = {
  vouchers: {
    create: ["amount apiKey company description expirySeconds idempotencyKey metadata"],
    list: [undefined, listed],
    claim: ["caller k1 pr"]
  }
} as const
export const ofCompany = { "vouchers.create": true } as const

export const views = {
  vouchers: { create: Http.issued.of, get: Http.view.of, list: Http.view.of, cancel: Http.view.of }
} as const
