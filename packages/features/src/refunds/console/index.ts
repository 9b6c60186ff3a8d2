import { refundPage } from "./Refund.ts"
import { received, refunds as pages, sent } from "./Refunds.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const refunds: Feature = {
  name: "refunds",
  record: "Refund",
  pages: [refundPage, ...pages],
  received,
  sent,
  eventKind: "refund",
  entry: { section: "Receive", rank: 50, name: "refunds", path: "refunds", text: "Refunds", glyph: "refund" },
  eventWords: {
    "refund.created": "Refund created",
    "refund.completed": "Refund paid",
    "refund.failed": "Refund failed",
    "refund.expired": "Refund expired",
    "refund.canceled": "Refund canceled"
  }
}
