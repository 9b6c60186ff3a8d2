import * as Feature from "@satrail/http/api/Feature"
import * as CheckoutPage from "./CheckoutPage.ts"
import * as Checkouts from "./Checkouts.ts"

export const checkouts = Feature.make({
  sections: [Checkouts.section],
  errors: Checkouts.errors,
  views: { checkout: Checkouts.view },
  extensions: [CheckoutPage.extension],
  schemaExceptions: { wellFormed: ["cancel_url", "contact", "embed_origin", "return_url"] }
})
