import { Context, type Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type { Arrived } from "./Checkout.ts"

/** Reads of checkouts beyond a record and a list of them. */
export class CheckoutReads extends Context.Service<
  CheckoutReads,
  {
    /** Sums the payments toward a checkout. */
    readonly arrivedFor: (companyId: CompanyId.CompanyId, checkoutId: string) => Effect.Effect<Arrived, StoreUnavailable>
  }
>()("@satrail/core/features/checkouts/CheckoutReads") {}
