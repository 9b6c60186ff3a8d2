import type { Feature } from "../ledger/Feature.ts"
import { approvals } from "./approvals/index.ts"
import { adjustments } from "./adjustments/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { refunds } from "./refunds/index.ts"
import { sessions } from "./sessions/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { webhooks } from "./webhooks/records/index.ts"
import { zaps } from "./zaps/index.ts"

/** Every feature, each after those that it needs. */
export const features = [approvals, checkouts, vouchers, refunds, zaps, offers, webhooks, adjustments, sessions, audit] as const

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Feature> = features
