import * as adjustments from "./adjustments.ts"
import * as approvals from "./approvals.ts"
import * as checkouts from "./checkouts.ts"
import * as offers from "./offers.ts"
import * as people from "./people.ts"
import * as refunds from "./refunds.ts"
import * as sessions from "./sessions.ts"
import * as vouchers from "./vouchers.ts"
import * as webhooks from "./webhooks.ts"

// Each feature's part of the tables in Verbs.ts and of the members in Reply.ts.

export const defaults = {
  ...adjustments.defaults,
  ...checkouts.defaults,
  ...offers.defaults,
  ...people.defaults,
  ...refunds.defaults,
  ...vouchers.defaults,
  ...webhooks.defaults
} as const

export const options = {
  ...adjustments.options,
  ...approvals.options,
  ...checkouts.options,
  ...offers.options,
  ...people.options,
  ...refunds.options,
  ...sessions.options,
  ...vouchers.options,
  ...webhooks.options
} as const

/** Members that features add to their records. */
export type Derived<T> = checkouts.Derived<T>
export const { derived } = checkouts

export const inMsat = {
  ...adjustments.inMsat,
  ...checkouts.inMsat,
  ...offers.inMsat
} as const

export const ofCompany = {
  ...approvals.ofCompany,
  ...refunds.ofCompany,
  ...vouchers.ofCompany
} as const
