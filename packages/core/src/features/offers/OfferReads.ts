import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type { Offer } from "./Offer.ts"

/** Reads offers by more than their ids. */
export class OfferReads extends Context.Service<
  OfferReads,
  {
    /** The offer of ours, of whichever company, that is written so: as a whole, in lower case and in one piece. */
    readonly offerByText: (offer: string) => Effect.Effect<Option.Option<Offer>, StoreUnavailable>
  }
>()("@satrail/core/features/offers/OfferReads") {}
