import type { Feature } from "../ledger/Feature.ts"
import { approvals } from "./approvals/index.ts"
import { adjustments } from "./adjustments/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { people } from "./people/index.ts"
import { offers } from "./offers/index.ts"
import { refunds } from "./refunds/index.ts"
import { sessions } from "./sessions/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { webhooks } from "./webhooks/records/index.ts"
import { zaps } from "./zaps/index.ts"

/** All features. Each one comes after the features that it requires. */
export const features = [approvals, checkouts, vouchers, refunds, zaps, offers, webhooks, adjustments, people, sessions, audit] as const

/** The same list, with each entry typed as a general `Feature`. */
export const all: ReadonlyArray<Feature> = features
