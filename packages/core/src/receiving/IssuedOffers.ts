import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, type Option, Result } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Invoice } from "./Invoice.ts"

/** An offer (BOLT 12) that our node issued, and the company that is paid for it. */
export interface IssuedOffer {
  readonly companyId: CompanyId.CompanyId
  /** The public key of the node that issued it. */
  readonly nodeId: string
  readonly offer: string
  /** What payers read. */
  readonly memo: string
  readonly metadata: Metadata.Metadata
  /** The Lightning address that it is published under; null where it is of its own. */
  readonly lightningAddressId: string | null
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Finds the offers that our node issued, of whichever company. */
export class IssuedOffers extends Context.Service<
  IssuedOffers,
  {
    /** The offer that the node knows by this id. */
    readonly byId: (id: string) => Read<Option.Option<IssuedOffer>>
    /** The offer that is written so: as a whole, in lower case and in one piece. */
    readonly byText: (offer: string) => Read<Option.Option<IssuedOffer>>
  }
>()("@satrail/core/receiving/IssuedOffers") {}

/** Finds none, for a service that issues no offers. */
export const layerNone = Layer.succeed(IssuedOffers, { byId: () => Effect.succeedNone, byText: () => Effect.succeedNone })

/** What each payment must be at least, in msat (BOLT 12, `offer_amount`); null if the payer decides. */
export const amountOf = ({ offer }: Pick<IssuedOffer, "offer">): Msat | null =>
  Result.match(Bolt12.decode(offer), { onFailure: () => null, onSuccess: ({ amount }) => amount ?? null })

/** The invoice that the node made by itself for a payment of this offer, as it is recorded when the node says that it is paid. */
export const invoice = (
  { companyId, nodeId, memo, offer, metadata, lightningAddressId }: IssuedOffer,
  { id, paymentHash }: Pick<Invoice, "id" | "paymentHash">,
  nowMillis: number
): Invoice => ({
  id,
  companyId,
  nodeId,
  memo,
  amount: amountOf({ offer }),
  minAmount: null,
  maxAmount: null,
  paymentHash,
  paymentRequest: offer,
  metadata,
  lightningAddressId,
  checkoutId: null,
  apiKeyId: null,
  callback: null,
  rate: null,
  rateAtMillis: null,
  status: "pending",
  received: null,
  hold: null,
  held: null,
  heldUntilMillis: null,
  preimage: null,
  claimedBy: null,
  createdAtMillis: nowMillis,
  expiresAtMillis: nowMillis,
  settledAtMillis: null,
  canceledAtMillis: null
})
