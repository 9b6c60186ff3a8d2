import { acts as approvals } from "./approvals/Acts.ts"
import { acts as checkouts } from "./checkouts/Acts.ts"
import { acts as offers } from "./offers/Acts.ts"
import { acts as refunds } from "./refunds/Acts.ts"
import { acts as vouchers } from "./vouchers/Acts.ts"
import { acts as webhooks } from "./webhooks/Acts.ts"

/** The implementations of each feature's operations. */
export const acts = [webhooks, approvals, checkouts, vouchers, refunds, offers] as const
