import type * as Checkout from "../core/Checkout.ts"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Refund } from "@satrail/ui/checkout/State"
import { Context, Effect } from "effect"

/**
 * Reads a checkout's refunds, newest first. `open` decrypts text sealed for the checkout's company, and returns
 * undefined if decryption fails.
 */
export type Read = (
  checkout: Checkout.Shown,
  open: (sealed: string) => string | undefined
) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>

/** Reads refunds for the checkout page. Default: none. */
export const Refunded = Context.Reference<Read>("@satrail/features/checkouts/http/Refunded", {
  defaultValue: () => () => Effect.succeed([])
})
