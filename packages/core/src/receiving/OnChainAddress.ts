import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import * as Purpose from "./Purpose.ts"

/**
 * An address of our wallet, assigned to one company and never to another. Every payment to the address is
 * credited, even if there are several.
 */
export const OnChainAddress = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Fingerprint of the wallet that can spend from it. */
  nodeId: Schema.String,
  address: Schema.String,
  scriptPubKey: Schema.String,
  type: AddressType,
  /** Index in the wallet's chain of receiving keys, needed to find the address after a restore. */
  index: Schema.Int,
  metadata: Metadata.Metadata,
  ...Purpose.members,
  createdAtMillis: Schema.Int
})
export interface OnChainAddress extends Schema.Schema.Type<typeof OnChainAddress> {}

/** An address belongs to one company. */
export const noun = Noun.make("on_chain_addresses", OnChainAddress, {
  moving: [],
  unique: [["scriptPubKey"]]
})

export interface OnChainAddressCreated extends Written<
  "OnChainAddressCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once"
> {}

/** Assigns the address to a company. From then on, payments to the address are credited to the company. */
export const created = (onChainAddress: OnChainAddress, once?: Change.Once): OnChainAddressCreated =>
  written("OnChainAddressCreated", onChainAddress.createdAtMillis, [Noun.insert(noun, onChainAddress)], {
    event: { type: "on_chain_address.created", subject: onChainAddress.id },
    ...(once && { once })
  })
