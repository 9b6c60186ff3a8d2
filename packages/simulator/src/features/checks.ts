import { vouchers } from "./vouchers/Checks.ts"

/** Every feature that stories are about. */
export const features = [vouchers] as const

export const records = features.flatMap(({ records }) => records)
