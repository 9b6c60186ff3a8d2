import { adjustments } from "@satrail/features/adjustments/console"
import { approvals } from "@satrail/features/approvals/console"
import { audit } from "@satrail/features/audit/console"
import { checkouts } from "@satrail/features/checkouts/console"
import { offers } from "@satrail/features/offers/console"
import { people } from "@satrail/features/people/console"
import { platform } from "@satrail/features/platform/console"
import { refunds } from "@satrail/features/refunds/console"
import { splits } from "@satrail/features/splits/console"
import { statements } from "@satrail/features/statements/console"
import { transfers } from "@satrail/features/transfers/console"
import { vouchers } from "@satrail/features/vouchers/console"
import { webhooks } from "@satrail/features/webhooks/console"
import type { Feature } from "@satrail/ui/console/Feature"
import { may, type Visit } from "@satrail/ui/console/Page"
import { button, type Icon } from "@satrail/ui/console/Parts"

const others: ReadonlyArray<Feature> = [
  checkouts,
  offers,
  vouchers,
  refunds,
  transfers,
  splits,
  statements,
  adjustments,
  people,
  platform,
  webhooks,
  approvals
]

/** All features with a part in the consoles. Their problems and panels are shown in this order. */
export const features: ReadonlyArray<Feature> = [
  ...others,
  // The audit log links to the records of the other features.
  audit(others)
]

/** Buttons for receiving a payment, for those who may. */
export const receiveButtons = (visit: Visit, glyph?: Icon) =>
  may(visit, "receive") &&
  features.map(
    ({ overview }) =>
      overview?.receive && button(visit.to(overview.receive.path), overview.receive.text, "main", glyph)
  )
