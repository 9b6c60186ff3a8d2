import { Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import * as Metadata from "../../base/Metadata.ts"
import type * as Change from "../../ledger/Change.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"

/**
 * An offer (BOLT 12) that our node issued for one company. It can be paid any number of times, and each payment is credited with what arrived.
 * It does not expire and cannot be canceled.
 */
export const Offer = Schema.Struct({
  /** The node knows it by this. */
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The public key of the node that issued it. */
  nodeId: Schema.String,
  offer: Schema.String,
  /** What payers read. */
  memo: Schema.String,
  metadata: Metadata.Metadata,
  /** The Lightning address that it is published under, by its id and as it is written; both null where it is of its own. */
  lightningAddressId: Schema.NullOr(Noun.Id),
  lightningAddress: Schema.NullOr(Schema.String),
  createdAtMillis: Schema.Int
})
export interface Offer extends Schema.Schema.Type<typeof Offer> {}

/** What is paid names an offer by its id alone. A Lightning address has one offer: its record has place for one. */
export const noun = Noun.make("offers", Offer, { moving: [], unique: [["id"], ["lightningAddressId"]] })

export interface OfferCreated extends Written<"OfferCreated", readonly [Noun.InsertOf<typeof noun>], "once", "offer.created"> {}

/** What is paid for the offer is this company's from here on. */
export const created = (offer: Offer, once?: Change.Once): OfferCreated => ({
  _tag: "OfferCreated",
  id: offer.id,
  companyId: offer.companyId,
  atMillis: offer.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, offer)],
  event: { type: "offer.created", subject: offer.id },
  ...(once && { once })
})
