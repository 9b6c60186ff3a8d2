import { vouchers } from "./vouchers.ts"

/** What each feature has on the command line. */
export const features = [vouchers] as const
