import { companyPanel } from "./CompanyPeople.ts"
import { people as operatorPages, problems } from "./OperatorPeople.ts"
import { people as pages } from "./People.ts"
import type { Feature } from "../Feature.ts"

export const people: Feature = {
  name: "people",
  pages,
  operatorPages,
  problems,
  companyPanel,
  entry: { section: "Company", rank: 10, name: "people", path: "people", text: "People", glyph: "people" },
  operatorEntry: { section: "Installation", rank: 10, name: "people", path: "people", text: "People", glyph: "people" }
}
