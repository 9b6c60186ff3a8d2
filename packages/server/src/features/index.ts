import type { Feature } from "./Feature.ts"
import { adjustments } from "./adjustments.ts"
import { audit } from "./audit.ts"
import { checkouts } from "./checkouts.ts"
import { offers } from "./offers.ts"
import { people } from "./people.ts"
import { refunds } from "./refunds.ts"
import { statements } from "./statements.ts"
import { vouchers } from "./vouchers.ts"
import { webhooks } from "./webhooks.ts"

/** The features' parts of the command line. */
export const features = [
  checkouts,
  vouchers,
  offers,
  refunds,
  webhooks,
  statements,
  adjustments,
  people,
  audit
] as const

/** The same features, typed as `Feature`. */
export const all: ReadonlyArray<Feature> = features
