import * as OfCompany from "../../api/OfCompany.ts"
import * as Feature from "../Feature.ts"
import * as Statements from "./Statements.ts"

export const statements = Feature.make({
  read: [Statements.get],
  ofCompany: [OfCompany.read(Statements.get)],
  schemaExceptions: { times: ["month"] }
})
