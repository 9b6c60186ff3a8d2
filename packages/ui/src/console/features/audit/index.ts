import { audit as page } from "./Audit.ts"
import { companyAside } from "./CompanyHistory.ts"
import { audit as operatorPage } from "./OperatorAudit.ts"
import type { Feature } from "../Feature.ts"

export const audit: Feature = {
  name: "audit",
  pages: [page],
  operatorPages: [operatorPage],
  companyAside,
  entry: { section: "Company", rank: 30, name: "audit", path: "audit", text: "Audit log", glyph: "clock" },
  operatorEntry: { section: "Installation", rank: 40, name: "audit", path: "audit", text: "Audit log", glyph: "clock" }
}
