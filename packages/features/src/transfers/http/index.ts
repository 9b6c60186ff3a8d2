import * as Feature from "@satrail/http/api/Feature"
import * as Transfers from "./Transfers.ts"

export const transfers = Feature.make({
  sections: [Transfers.section],
  errors: Transfers.errors,
  views: { transfer: Transfers.view },
  ofCompany: Transfers.ofCompany
})
