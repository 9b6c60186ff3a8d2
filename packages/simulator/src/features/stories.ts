import { stories as approvals } from "./approvals/Stories.ts"
import { stories as checkouts } from "./checkouts/Stories.ts"
import { stories as refunds } from "./refunds/Stories.ts"
import { stories as vouchers } from "./vouchers/Stories.ts"

/** What each feature has happen: recipes of operations that are dangerous together, and short stories in which each call goes wrong. */
export const stories = [approvals, checkouts, vouchers, refunds]
