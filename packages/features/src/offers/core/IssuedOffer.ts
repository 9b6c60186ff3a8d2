import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import type * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * An offer (BOLT 12) issued by our node for one company. It can be paid any number of times, and each payment
 * credits the amount received. It does not expire and cannot be canceled.
 */
export const IssuedOffer = Schema.Struct({
  /** The record's id, which is also the offer's id at the node. */
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Public key of the issuing node. */
  nodeId: Schema.String,
  offer: Schema.String,
  /** Description shown to payers. */
  memo: Schema.String,
  metadata: Metadata.Metadata,
  /** Id and text of the Lightning address that publishes the offer; both null if no address does. */
  lightningAddressId: Schema.NullOr(Noun.Id),
  lightningAddress: Schema.NullOr(Schema.String),
  createdAtMillis: Schema.Int
})
export interface IssuedOffer extends Schema.Schema.Type<typeof IssuedOffer> {}

/**
 * A payment identifies its offer by id alone. A Lightning address has one offer, because its DNS record can
 * hold only one.
 */
export const noun = Noun.make("offers", IssuedOffer, { moving: [], unique: [["id"], ["lightningAddressId"]] })

export interface OfferCreated extends Written<
  "OfferCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  "offer.created"
> {}

/** Records an offer. From then on, its payments belong to this company. */
export const created = (offer: IssuedOffer, once?: Change.Once): OfferCreated =>
  written("OfferCreated", offer.createdAtMillis, [Noun.insert(noun, offer)], {
    event: { type: "offer.created", subject: offer.id },
    ...(once && { once })
  })
