import { audit as page } from "./Audit.ts"
import { companyAside } from "./CompanyHistory.ts"
import { audit as operatorPage } from "./OperatorAudit.ts"
import type { Feature } from "@satrail/ui/console/Feature"

/** Returns the audit log, which links to the records of these features. */
export const audit = (features: ReadonlyArray<Feature>): Feature => ({
  name: "audit",
  pages: page(Object.fromEntries(features.map(({ name, records }) => [name, records?.company]))),
  operatorPages: operatorPage(
    Object.fromEntries(features.map(({ name, records }) => [name, records?.operator]))
  ),
  ofCompany: { aside: companyAside },
  entry: { section: "Company", rank: 30, name: "audit", path: "audit", text: "Audit log", glyph: "clock" },
  operatorEntry: {
    section: "Installation",
    rank: 40,
    name: "audit",
    path: "audit",
    text: "Audit log",
    glyph: "clock"
  }
})
