import * as Feature from "@satrail/http/api/Feature"
import * as Splits from "./Splits.ts"

export const splits = Feature.make({
  read: [Splits.get],
  views: { splits: Splits.view },
  schemaExceptions: { splits: ["company_id", "share"] }
})
