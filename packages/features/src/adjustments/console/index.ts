import { adjustment } from "./Adjustment.ts"
import { operatorPages, problems } from "./OperatorAdjustments.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const adjustments: Feature = {
  name: "adjustments",
  records: { operator: "Adjustment" },
  pages: [adjustment],
  operatorPages,
  troubles: { problems },
  operatorEntry: {
    section: "Money",
    rank: 40,
    name: "adjustments",
    path: "adjustments",
    text: "Adjustments",
    glyph: "book"
  },
  ofCompany: { link: (id) => [`adjustments/new?company=${id}`, "Adjust…"] }
}
