import { vouchers } from "./vouchers/index.ts"

/** Every feature that has promises of its own. */
export const features = [vouchers] as const
