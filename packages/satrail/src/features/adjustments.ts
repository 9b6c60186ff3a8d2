import { classes } from "../Errors.ts"
import { after } from "../Pages.ts"

export const { AdjustmentDecided } = classes
export const defaults = { adjustments: { list: [after] } } as const
export const inMsat = { "adjustments.request": true } as const
