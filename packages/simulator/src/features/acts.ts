import { acts as approvals } from "./approvals/Acts.ts"
import { acts as checkouts } from "./checkouts/Acts.ts"
import { acts as offers } from "./offers/Acts.ts"
import { acts as refunds } from "./refunds/Acts.ts"
import { acts as vouchers } from "./vouchers/Acts.ts"

/** How each feature's operations are carried out. */
export const acts = [approvals, checkouts, vouchers, refunds, offers] as const
