import { refundPage } from "./Refund.ts"
import { depositPanel, refunds as pages } from "./Refunds.ts"
import type { Feature } from "../Feature.ts"

export const refunds: Feature = {
  name: "refunds",
  record: "Refund",
  pages: [refundPage, ...pages],
  depositPanel
}
