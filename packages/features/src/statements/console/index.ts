import { companyStatements } from "./CompanyStatements.ts"
import { statements as pages } from "./Statements.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const statements: Feature = {
  name: "statements",
  pages,
  operatorPages: [companyStatements],
  entry: { section: "", rank: 50, name: "statements", path: "statements", text: "Statements", glyph: "book" },
  ofCompany: { link: (id) => [`companies/${id}/statements`, "Statements"] }
}
