import { adjustments } from "./adjustments/index.ts"
import { approvals } from "./approvals/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { people } from "./people/index.ts"
import { refunds } from "./refunds/index.ts"
import { statements } from "./statements/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { webhooks } from "./webhooks/index.ts"
import type { Feature } from "./Feature.ts"
import { may, type Visit } from "../Page.ts"
import { button, type Icon } from "../Parts.ts"

const others: ReadonlyArray<Feature> = [checkouts, offers, vouchers, refunds, statements, adjustments, people, webhooks, approvals]

/** All features with a part in the consoles. Their problems and panels are shown in this order. */
export const features: ReadonlyArray<Feature> = [
  ...others,
  // The audit log links to the records of the other features.
  audit(others)
]

/** Buttons for receiving a payment, for those who may. */
export const receiveButtons = (visit: Visit, glyph?: Icon) =>
  may(visit, "receive") && features.map(({ receive }) => receive && button(visit.to(receive.path), receive.text, "main", glyph))
