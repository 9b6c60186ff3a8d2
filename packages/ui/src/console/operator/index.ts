import { features } from "../features/index.ts"
import type { OperatorVisit, Page } from "../Page.ts"
import { alarms } from "./Alarms.ts"
import { backlog } from "./Backlog.ts"
import { companies } from "./Companies.ts"
import { company } from "./Company.ts"
import { companyPayments } from "./CompanyPayments.ts"
import { companyTerms } from "./CompanyTerms.ts"
import { keys } from "./Keys.ts"
import { nodes } from "./Nodes.ts"
import { now } from "./Now.ts"
import { reconciliation } from "./Reconciliation.ts"
import { search } from "./Search.ts"
import { stops } from "./Stops.ts"
import { suspense } from "./Suspense.ts"
import { tokens } from "./Tokens.ts"
import { tracing } from "./Withdrawal.ts"

/** All pages of the operator's console. A path with a parameter comes after those without. */
export const pages: ReadonlyArray<Page<OperatorVisit>> = [
  now,
  alarms,
  backlog,
  ...tracing,
  ...stops,
  ...companies,
  ...companyPayments,
  ...companyTerms,
  ...keys,
  company,
  nodes,
  ...reconciliation,
  ...suspense,
  ...tokens,
  search,
  ...features.flatMap(({ operatorPages = [] }) => operatorPages)
]
