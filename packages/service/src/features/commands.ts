import type { Feature } from "@satrail/http/commands/Feature"
import { adjustments } from "@satrail/features/adjustments/commands"
import { audit } from "@satrail/features/audit/commands"
import { checkouts } from "@satrail/features/checkouts/commands"
import { offers } from "@satrail/features/offers/commands"
import { people } from "@satrail/features/people/commands"
import { platform } from "@satrail/features/platform/commands"
import { refunds } from "@satrail/features/refunds/commands"
import { statements } from "@satrail/features/statements/commands"
import { transfers } from "@satrail/features/transfers/commands"
import { vouchers } from "@satrail/features/vouchers/commands"
import { webhooks } from "@satrail/features/webhooks/commands"

/** The features' parts of the command line. */
export const features = [
  checkouts,
  vouchers,
  offers,
  refunds,
  transfers,
  webhooks,
  statements,
  adjustments,
  people,
  platform,
  audit
] as const

/** The same features, typed as `Feature`. */
export const all: ReadonlyArray<Feature> = features
