import * as Refund from "@satrail/features/refunds/core/Refund"
import { Refunds } from "@satrail/features/refunds/core/Refunds"
import * as Http from "@satrail/features/refunds/http/Refunds"
import type { Sealer } from "@satrail/http/wire/Seal"
import { Redacted } from "effect"
import { type First, made, type Of } from "../Sharing.ts"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import {
  amount,
  apiKey,
  company,
  fields,
  flag,
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
        expirySeconds: Refund.expirySeconds.default,
        metadata: {},
        onCheckout: true
      }
    ],
    list: [undefined, page]
  }
} as const
export const parameters = {
  refunds: {
    create: [
      fields({
        company,
        ...maybe({
          amount,
          checkoutId: text,
          depositId: text,
          description: text,
          destination: text,
          expirySeconds: number
        }),
        ...restrictions({ apiKey }),
        idempotencyKey,
        ...maybe({ invoiceId: text, metadata, onCheckout: flag })
      })
    ],
    get: ids,
    list: [company, listOf({ ...period, depositId: text })],
    ofCheckout: [company, named("checkoutId", text)],
    cancel: ids,
    step: []
  }
} as const
export const ofCompany = { "refunds.create": true } as const

type RefundAsk = First<Refunds["Service"]["create"]>
export const shared = (of: Of, links: Sealer) => ({
  refunds: {
    create: ({ onCheckout, ...others }: Omit<RefundAsk, "onCheckout"> & { readonly onCheckout: boolean }) => {
      const seal = (url: Redacted.Redacted) => links.seal(Redacted.value(url), others.company.id)
      return of(Refunds).create({ ...others, ...(onCheckout && { onCheckout: { seal } }) })
    }
  }
})

export const views = {
  refunds: { ...made(Http.view.of), create: Http.made.of, cancel: Http.view.of }
} as const
