import type * as Checkout from "@satrail/core/features/checkouts/Checkout"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Refund } from "@satrail/ui/checkout/State"
import { Context, Effect } from "effect"

/** What goes back to the payer of a checkout, the newest first. `open` decrypts what was sealed for its company: undefined where it cannot. */
export type Read = (
  checkout: Checkout.Shown,
  open: (sealed: string) => string | undefined
) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>

/** Reads it for the page of the checkout. Nothing goes back unless a feature provides this. */
export const Refunded = Context.Reference<Read>("@satrail/http/features/checkouts/Refunded", {
  defaultValue: () => () => Effect.succeed([])
})
