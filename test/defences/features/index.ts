import { checkouts } from "./checkouts.ts"
import { refunds } from "./refunds.ts"
import { vouchers } from "./vouchers.ts"
import { webhooks } from "./webhooks.ts"

export const features = [checkouts, vouchers, refunds, webhooks]
