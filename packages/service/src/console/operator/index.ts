import { features } from "../../features/console.ts"
import type { OperatorVisit, Page } from "@satrail/ui/console/Page"
import { alarms } from "./Alarms.ts"
import { backlog } from "./Backlog.ts"
import { companies } from "./Companies.ts"
import { company } from "./Company.ts"
import { companyPayments } from "@satrail/ui/console/operator/CompanyPayments"
import { companyTerms } from "./CompanyTerms.ts"
import { keys } from "./Keys.ts"
import { nodes } from "@satrail/ui/console/operator/Nodes"
import { now } from "./Now.ts"
import { reconciliation } from "@satrail/ui/console/operator/Reconciliation"
import { search } from "@satrail/ui/console/operator/Search"
import { stops } from "@satrail/ui/console/operator/Stops"
import { suspense } from "@satrail/ui/console/operator/Suspense"
import { tokens } from "@satrail/ui/console/operator/Tokens"
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
