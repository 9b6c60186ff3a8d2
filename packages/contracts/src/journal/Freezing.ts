import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { verdict } from "../Fixtures.ts"

export const freeze = { reason: 'café ☕ "', pending: "wait", sinceMillis: 1_700_000_000_000 } as const

/** Freezes a company, or lifts its freeze. */
export const frozen = (companyId: CompanyId.CompanyId, how: Company.Company["frozen"] = freeze) =>
  verdict(Company.freezeChanged(companyId, how, freeze.sinceMillis))
