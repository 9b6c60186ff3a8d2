import type * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Option } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/**
 * A node that issues offers (BOLT 12) for the service, and responds to invoice requests itself. A node that
 * cannot issue offers has no such layer.
 */
export class OfferIssuer extends Context.Service<
  OfferIssuer,
  {
    /**
     * Creates an offer without an expiry, in lowercase and without line breaks. It requests `amount` (BOLT
     * 12, `offer_amount`, in msat); null lets the payer choose. `id` is a UUID of this service. Repeating an
     * `id` returns the same offer while the node keeps its store. An issued offer can be paid while the node
     * keeps its keys.
     *
     * Each payment appears in `LightningReceiver.settlements` with this id and its own hash. Such a payment is
     * reported nowhere else, so the stream may repeat it but never loses it.
     */
    readonly createOffer: (ask: {
      readonly id: string
      readonly description: string
      readonly amount: Msat.Msat | null
    }) => Effect.Effect<string, NodeUnavailable>
  }
>()("@satrail/core/nodes/OfferIssuer") {}

/** The node's offer issuer; undefined if it has none. */
export const available: Effect.Effect<OfferIssuer["Service"] | undefined> = Effect.map(
  Effect.serviceOption(OfferIssuer),
  Option.getOrUndefined
)
