import { refundPage } from "./Refund.ts"
import { received, refunds as pages, sent } from "./Refunds.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const refunds: Feature = {
  name: "refunds",
  records: { company: "Refund", eventKind: "refund" },
  pages: [refundPage, ...pages],
  entry: { section: "Receive", rank: 50, name: "refunds", path: "refunds", text: "Refunds", glyph: "refund" },
  payments: {
    received,
    sent,
    eventWords: {
      "refund.created": "Refund created",
      "refund.completed": "Refund paid",
      "refund.failed": "Refund failed",
      "refund.expired": "Refund expired",
      "refund.canceled": "Refund canceled"
    }
  }
}
