import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import * as MonthEnd from "./MonthEnd.ts"
import * as Statements from "./Statements.ts"

/** A company's months, closed or open. */
export const statements = Feature.make({
  name: "statements",
  nouns: [MonthEnd.noun],
  changes: Feature.changes<MonthEnd.MonthsClosed>(),
  layer: Traced.over(Statements.Statements, Statements.layer)
})
