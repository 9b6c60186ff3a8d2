import { Status } from "@satrail/features/adjustments/core/Adjustment"
import { Schema } from "effect"
import { Adjustments } from "@satrail/features/adjustments/core/Adjustments"
import * as Http from "@satrail/features/adjustments/http/Adjustments"
import type { Id, Of } from "../Sharing.ts"
import { classes } from "../Errors.ts"
import { after } from "../Pages.ts"
import { company, fields, id, idempotencyKey, ids, listOf, operator, sats, text } from "../Fields.ts"

export const { AdjustmentDecided } = classes
export const defaults = { adjustments: { list: [after] } } as const
export const parameters = {
  adjustments: {
    get: [id],
    request: [
      fields({
        amount: sats,
        by: operator,
        company,
        note: Schema.NullOr(text),
        reason: text,
        idempotencyKey
      })
    ],
    approve: [id, operator],
    reject: [id, operator],
    ofCompany: ids,
    list: [listOf({ status: Status })]
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
