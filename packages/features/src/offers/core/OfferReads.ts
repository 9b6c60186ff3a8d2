import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { IssuedOffer } from "./IssuedOffer.ts"

/** Looks up offers by their text. */
export class OfferReads extends Context.Service<
  OfferReads,
  {
    /**
     * Returns the offer, of any company, whose text is given. The text must be complete, in lower case and
     * without `+` separators.
     */
    readonly offerByText: (offer: string) => Effect.Effect<Option.Option<IssuedOffer>, StoreUnavailable>
  }
>()("@satrail/features/offers/core/OfferReads") {}
