import * as Page from "@satrail/core/ledger/Page"

/** The first page of a list that is sorted newest first. */
export const page = { limit: Page.limit.default, before: null } as const
/** The first page of a list that is sorted oldest first. */
export const after = { limit: Page.limit.default, after: null } as const
