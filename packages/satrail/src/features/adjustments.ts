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
