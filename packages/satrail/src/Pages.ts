import * as Page from "@satrail/core/ledger/Page"

/** The first page of a list, the newest record first. */
export const page = { limit: Page.limit.default, before: null } as const
/** The first page of a list, the oldest record first. */
export const after = { limit: Page.limit.default, after: null } as const
/** The options of a list without filters. */
export const listed = "cursor limit"
