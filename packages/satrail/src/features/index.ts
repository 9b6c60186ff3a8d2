import * as adjustments from "./adjustments.ts"
import * as approvals from "./approvals.ts"
import * as audit from "./audit.ts"
import * as checkouts from "./checkouts.ts"
import * as offers from "./offers.ts"
import * as people from "./people.ts"
import * as refunds from "./refunds.ts"
import * as sessions from "./sessions.ts"
import * as statements from "./statements.ts"
import * as vouchers from "./vouchers.ts"
import * as walletConnect from "./wallet-connect.ts"
import * as webhooks from "./webhooks.ts"
import type { Sealer } from "@satrail/http/wire/Seal"
import type { Of, Table } from "../Sharing.ts"

// Each feature's part of the tables in Verbs.ts and of the fields in Reply.ts.

export const defaults = {
  ...adjustments.defaults,
  ...audit.defaults,
  ...checkouts.defaults,
  ...offers.defaults,
  ...people.defaults,
  ...refunds.defaults,
  ...vouchers.defaults,
  ...webhooks.defaults
} as const

export const parameters = {
  ...adjustments.parameters,
  ...approvals.parameters,
  ...audit.parameters,
  ...checkouts.parameters,
  ...offers.parameters,
  ...people.parameters,
  ...refunds.parameters,
  ...sessions.parameters,
  ...statements.parameters,
  ...vouchers.parameters,
  ...walletConnect.parameters,
  ...webhooks.parameters
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

export const unwrapped = {
  ...webhooks.unwrapped
} as const

export const hidden = {
  ...checkouts.hidden,
  ...people.hidden,
  ...sessions.hidden,
  ...webhooks.hidden
} as const

const sharing = {
  adjustments: adjustments.shared,
  audit: audit.shared,
  offers: offers.shared,
  refunds: refunds.shared,
  statements: statements.shared,
  webhooks: webhooks.shared
}
type SharedBy = { readonly [N in keyof typeof sharing]: ReturnType<(typeof sharing)[N]> }
/** Each feature's methods, as in Shared.ts. */
export type Shared = Intersection<SharedBy>
const makers: ReadonlyArray<(of: Of, links: Sealer) => Table<unknown>> = Object.values(sharing)
export const shared = (of: Of, links: Sealer) => makers.map((make) => make(of, links))

const viewing = {
  adjustments: adjustments.views,
  audit: audit.views,
  checkouts: checkouts.views,
  offers: offers.views,
  refunds: refunds.views,
  statements: statements.views,
  vouchers: vouchers.views,
  webhooks: webhooks.views
}
/** Each feature's views, as in Views.ts. */
export type Views = Intersection<typeof viewing>
export const views = Object.values(viewing)
