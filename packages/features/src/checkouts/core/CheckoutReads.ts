import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Arrived, Checkout } from "./Checkout.ts"

/** Reads the payments toward checkouts. */
export class CheckoutReads extends Context.Service<
  CheckoutReads,
  {
    /** Returns the total of payments toward a checkout. */
    readonly arrivedFor: (
      checkout: Pick<Checkout, "companyId" | "id" | "expiresAtMillis">
    ) => Effect.Effect<Arrived, StoreUnavailable>
    /** Returns the pending and settled deposits of a checkout, newest first. */
    readonly depositsFor: (
      companyId: CompanyId.CompanyId,
      checkoutId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Deposit>, StoreUnavailable>
    /** Returns a company's checkouts of an order before `before` (exclusive; null for the first page), newest first by id. */
    readonly ofOrder: (
      companyId: CompanyId.CompanyId,
      orderId: string,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Checkout>, StoreUnavailable>
  }
>()("@satrail/features/checkouts/core/CheckoutReads") {}
