import type { Feature } from "./Feature.ts"
import { audit } from "./audit.ts"
import { offers } from "./offers.ts"
import { refunds } from "./refunds.ts"
import { statements } from "./statements.ts"
import { vouchers } from "./vouchers.ts"
import { webhooks } from "./webhooks.ts"

/** What each feature has on the command line. */
export const features = [vouchers, offers, refunds, webhooks, statements, audit] as const

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Feature> = features
