import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, type Option, Result } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Invoice, unpaid } from "./Invoice.ts"
import * as Purpose from "./Purpose.ts"
import * as Rated from "../base/Rated.ts"

/** An offer (BOLT 12) issued by our node, with the company that receives its payments. */
export interface IssuedOffer {
  readonly companyId: CompanyId.CompanyId
  /** Public key of the issuing node. */
  readonly nodeId: string
  readonly offer: string
  /** Description shown to payers. */
  readonly memo: string
  readonly metadata: Metadata.Metadata
  /** The Lightning address that publishes this offer; null if none does. */
  readonly lightningAddressId: string | null
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Finds offers that our node issued for any company. The default implementation finds none. */
export class IssuedOffers extends Context.Reference<{
  /** Returns the offer that has this id at the node. */
  readonly byId: (id: string) => Read<Option.Option<IssuedOffer>>
  /** Returns the offer with this text, which must be complete, in lower case and without `+` separators. */
  readonly byText: (offer: string) => Read<Option.Option<IssuedOffer>>
}>("@satrail/core/receiving/IssuedOffers", {
  defaultValue: () => ({ byId: () => Effect.succeedNone, byText: () => Effect.succeedNone })
}) {}

/** Returns the minimum of each payment in msat (BOLT 12, `offer_amount`), or null if the payer chooses. */
export const amountOf = ({ offer }: Pick<IssuedOffer, "offer">): Msat | null =>
  Result.match(Bolt12.decode(offer), { onFailure: () => null, onSuccess: ({ amount }) => amount ?? null })

/**
 * Returns the record of an invoice that the node created itself for a payment of this offer. It is recorded
 * when the node reports the payment.
 */
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
  ...Purpose.none,
  apiKeyId: null,
  callback: null,
  ...Rated.none,
  ...unpaid,
  createdAtMillis: nowMillis,
  expiresAtMillis: nowMillis
})
