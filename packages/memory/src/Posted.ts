import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Posts from "@satrail/core/ledger/Posts"
import * as State from "./State.ts"

/** Returns a company's postings that come from features' records. */
export const by = (state: State.State, companyId: CompanyId.CompanyId): ReadonlyArray<Posts.Posted> =>
  Posts.posted(state.features, companyId, (noun) => State.readBy(state, noun, companyId))
