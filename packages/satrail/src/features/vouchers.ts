import * as Http from "@satrail/features/vouchers/http/Vouchers"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import {
  amount,
  apiKey,
  company,
  fields,
  idempotencyKey,
  ids,
  listOf,
  maybe,
  metadata,
  named,
  number,
  period,
  restrictions,
  text
} from "../Fields.ts"

export const { VoucherNotOpen, VoucherRefused } = classes
export const defaults = {
  vouchers: {
    create: [{ description: "", expirySeconds: Voucher.expirySeconds.default, metadata: {} }],
    list: [undefined, page]
  }
} as const
export const parameters = {
  vouchers: {
    create: [
      fields({
        amount,
        company,
        idempotencyKey,
        ...restrictions({ apiKey }),
        ...maybe({ description: text, expirySeconds: number, metadata })
      })
    ],
    get: ids,
    list: [company, listOf({ ...period, createdBy: text, status: Voucher.Status })],
    cancel: ids,
    cancelCreatedBy: [company, named("createdBy", text)],
    offer: [named("k1", text)],
    claim: [fields({ caller: text, k1: text, pr: text })],
    step: []
  }
} as const
export const ofCompany = { "vouchers.create": true } as const

export const views = {
  vouchers: { create: Http.issued.of, get: Http.view.of, list: Http.view.of, cancel: Http.view.of }
} as const
