import * as adjustments from "./adjustments.ts"
import * as approvals from "./approvals.ts"
import * as checkouts from "./checkouts.ts"
import * as offers from "./offers.ts"
import * as people from "./people.ts"
import * as refunds from "./refunds.ts"
import * as sessions from "./sessions.ts"
import * as vouchers from "./vouchers.ts"
import * as walletConnect from "./wallet-connect.ts"
import * as webhooks from "./webhooks.ts"

// Each feature's part of the tables in Verbs.ts and of the fields in Reply.ts.

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
  ...walletConnect.options,
  ...webhooks.options
} as const

/** The fields that each feature adds to its records. */
interface DerivedBy<T> {
  readonly none: unknown
  readonly checkouts: checkouts.Derived<T>
}
type Intersection<By> = { [N in keyof By]: (value: By[N]) => void }[keyof By] extends (value: infer All) => void ? All : never
export type Derived<T> = Intersection<DerivedBy<T>>

const deriving: Readonly<Record<string, (value: object) => object>> = {
  ...checkouts.deriving
}
export const derived = (value: object): object => Object.assign({}, ...Object.values(deriving).map((of) => of(value)))

export const inMsat = {
  ...adjustments.inMsat,
  ...checkouts.inMsat
} as const

export const ofCompany = {
  ...approvals.ofCompany,
  ...refunds.ofCompany,
  ...vouchers.ofCompany
} as const
