import { refunds } from "./refunds.ts"
import { vouchers } from "./vouchers.ts"

export const features = [vouchers, refunds]
