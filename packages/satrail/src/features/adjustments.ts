import { Adjustments } from "@satrail/core/features/adjustments/Adjustments"
import * as Http from "@satrail/http/features/adjustments/Adjustments"
import type { Id, Of } from "../Sharing.ts"
import { classes } from "../Errors.ts"
import { after, listed } from "../Pages.ts"

export const { AdjustmentDecided } = classes
export const defaults = { adjustments: { list: [after] } } as const
export const options = {
  adjustments: {
    request: ["amount by company idempotencyKey note reason"],
    approve: [undefined, "*"],
    reject: [undefined, "*"],
    list: [`${listed} status`]
  }
} as const
export const inMsat = { "adjustments.request": true } as const

export const shared = (of: Of) => ({
  transactions: {
    /** Returns a booked adjustment of this company. */
    adjustment: (companyId: Id, id: string) => of(Adjustments).ofCompany(companyId, id)
  }
})
export const views = { transactions: { adjustment: Http.own.of } } as const
