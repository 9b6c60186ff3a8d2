import * as Feature from "@satrail/http/api/Feature"
import * as OnCheckout from "./OnCheckout.ts"
import * as Refunds from "./Refunds.ts"

export const refunds = Feature.make({
  sections: [Refunds.section],
  errors: Refunds.errors,
  views: { refund: Refunds.view },
  provides: [OnCheckout.layer],
  schemaExceptions: { together: ["invoice_id"] }
})
