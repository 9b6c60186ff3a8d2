import type * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Option } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/** A node that issues offers (BOLT 12) for us, and sends invoices for them by itself. A node that cannot has no layer for it. */
export class OfferIssuer extends Context.Service<
  OfferIssuer,
  {
    /**
     * An offer without an expiry, in lower case and in one piece. It asks for `amount` (BOLT 12, `offer_amount`, in msat); null lets the payer decide.
     * `id` is a UUID of this service: a repeated `id` returns the same offer, as long as the node has its store.
     * An issued offer can be paid as long as the node has its keys.
     *
     * Each payment of it is in `LightningReceiver.settlements`, with this id, and with a hash of its own. That is the only place where it is told, so the stream may repeat
     * one of these, and loses none.
     */
    readonly createOffer: (ask: {
      readonly id: string
      readonly description: string
      readonly amount: Msat.Msat | null
    }) => Effect.Effect<string, NodeUnavailable>
  }
>()("@satrail/core/nodes/OfferIssuer") {}

/** The node's way to issue offers; undefined where it has none. */
export const available: Effect.Effect<OfferIssuer["Service"] | undefined> = Effect.map(
  Effect.serviceOption(OfferIssuer),
  Option.getOrUndefined
)
