import * as OfCompany from "@satrail/http/api/OfCompany"
import * as Feature from "@satrail/http/api/Feature"
import * as Statements from "./Statements.ts"

export const statements = Feature.make({
  read: [Statements.get],
  ofCompany: [OfCompany.read(Statements.get)],
  schemaExceptions: { times: ["month"] }
})
