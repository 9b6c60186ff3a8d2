import * as adjustments from "./adjustments.ts"
import * as approvals from "./approvals.ts"
import * as audit from "./audit.ts"
import * as checkouts from "./checkouts.ts"
import * as offers from "./offers.ts"
import * as people from "./people.ts"
import * as refunds from "./refunds.ts"
import * as statements from "./statements.ts"
import * as vouchers from "./vouchers.ts"
import * as walletConnect from "./wallet-connect.ts"
import * as webhooks from "./webhooks.ts"
import type { Sealer } from "@satrail/http/wire/Seal"
import type { Of, Table } from "../Sharing.ts"

// Each feature's part of the tables in Verbs.ts and of the fields in Reply.ts.

const features = {
  adjustments,
  approvals,
  audit,
  checkouts,
  offers,
  people,
  refunds,
  statements,
  vouchers,
  walletConnect,
  webhooks
}
type Features = typeof features

type Intersection<By> = { [N in keyof By]: (value: By[N]) => void }[keyof By] extends (
  value: infer All
) => void
  ? All
  : never
type PartOf<F, Part extends string> = F extends { readonly [part in Part]: infer P } ? P : object
type Together<Part extends string> = Intersection<{ [N in keyof Features]: PartOf<Features[N], Part> }>

/** Merges the same part of all features into one object. */
const together = <const Part extends string>(part: Part): Together<Part> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- merges the parts as in the type
  Object.assign(
    {},
    ...Object.values(features).map((feature): unknown => Reflect.get(feature, part))
  ) as Together<Part>

export const defaults = together("defaults")
export const parameters = together("parameters")
export const inMsat = together("inMsat")
export const ofCompany = together("ofCompany")
export const hidden = together("hidden")
export const unwrapped = together("unwrapped")

/** The fields that each feature adds to its records. */
interface DerivedBy<T> {
  readonly none: unknown
  readonly checkouts: checkouts.Derived<T>
}
export type Derived<T> = Intersection<DerivedBy<T>>

const deriving: Readonly<Record<string, (value: object) => object>> = {
  ...checkouts.deriving
}
export const derived = (value: object): object =>
  Object.assign({}, ...Object.values(deriving).map((of) => of(value)))

type Made<Make> = Make extends (...given: never) => infer Methods ? Methods : unknown
/** Each feature's methods, as in Shared.ts. */
export type Shared = Intersection<{ [N in keyof Features]: Made<PartOf<Features[N], "shared">> }>
const makers: ReadonlyArray<(of: Of, links: Sealer) => Table<unknown>> = Object.values(features).flatMap(
  (feature) => ("shared" in feature ? [feature.shared] : [])
)
export const shared = (of: Of, links: Sealer) => makers.map((make) => make(of, links))

/** Each feature's views, as in Views.ts. */
export type Views = Together<"views">
export const views = Object.values(features).flatMap((feature) => ("views" in feature ? [feature.views] : []))
