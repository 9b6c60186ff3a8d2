import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as MonthEnd from "./MonthEnd.ts"
import { StatementReads } from "./StatementReads.ts"
import * as Statements from "./Statements.ts"

/** Monthly statements of companies, closed or open. */
export const statements = Feature.make({
  name: "statements",
  nouns: [MonthEnd.noun],
  changes: Feature.changes<MonthEnd.MonthsClosed>(),
  reads: StatementReads,
  layer: Traced.over(Statements.Statements, Statements.layer)
})
