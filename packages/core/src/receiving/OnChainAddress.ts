import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"

/** An address of our wallet that was given to one company, and never to another. Any number of payments to it are credited. */
export const OnChainAddress = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The fingerprint of the wallet that can spend from it. */
  nodeId: Schema.String,
  address: Schema.String,
  scriptPubKey: Schema.String,
  type: AddressType,
  /** Its place in the wallet's chain of receiving keys: what a restore needs to find it. */
  index: Schema.Int,
  metadata: Metadata.Metadata,
  /** The checkout that it is one way to pay. */
  checkoutId: Schema.NullOr(Noun.Id),
  createdAtMillis: Schema.Int
})
export interface OnChainAddress extends Schema.Schema.Type<typeof OnChainAddress> {}

/** An address is one company's. */
export const noun = Noun.make("on_chain_addresses", OnChainAddress, { moving: [], unique: [["scriptPubKey"]] })

export interface OnChainAddressCreated extends Written<"OnChainAddressCreated", readonly [Noun.InsertOf<typeof noun>], "once"> {}

/** What is paid to the address is this company's from here on. */
export const created = (onChainAddress: OnChainAddress, once?: Change.Once): OnChainAddressCreated => ({
  _tag: "OnChainAddressCreated",
  id: onChainAddress.id,
  companyId: onChainAddress.companyId,
  atMillis: onChainAddress.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, onChainAddress)],
  event: { type: "on_chain_address.created", subject: onChainAddress.id },
  ...(once && { once })
})
