import { acts as vouchers } from "./vouchers/Acts.ts"

/** How each feature's operations are carried out. */
export const acts = [vouchers] as const
