import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"

/** Where a key is found in a wallet: its account by address type, its receiving (0) or change (1) branch, its number (BIP 44). */
export const Place = Schema.Struct({ type: AddressType, branch: Schema.Literals([0, 1]), index: Schema.Int })
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** An output of our wallet that nothing spends. */
export const Coin = Schema.Struct({
  /** `txid:vout`. */
  outpoint: Schema.String,
  scriptPubKey: Schema.String,
  amount: Msat.Msat,
  ...Place.fields,
  /** Whether it is in a block, as deep as we ask: else it is change of a payout under way. */
  isConfirmed: Schema.Boolean
})
export interface Coin extends Schema.Schema.Type<typeof Coin> {}

/** What a payout gives back to us, before it is signed: only then its transaction has an id. */
export interface Change extends Place {
  /** The fingerprint of the wallet that it goes back to. */
  readonly wallet: string
  readonly vout: number
  readonly scriptPubKey: string
  readonly amount: Msat.Msat
}

/** What an input weighs that spends a coin of this type, its signature at its longest, so that a fee is never less than its rate. */
export const inputWeight: { readonly [type in AddressType]: number } = { taproot: 230, segwit: 272, nested_segwit: 364 }

/** The fee of so many weight units, at `feeRate` sats for a virtual byte: rounded up. */
export const feeFor = (weight: number, feeRate: number): bigint => BigInt(Math.ceil((weight * feeRate) / 4))

/** What it costs to spend a coin of this type in a transaction that is made anyway. Taproot at 10 sats for a virtual byte: 575. */
export const spendingSats = (type: AddressType, feeRate: number): bigint => feeFor(inputWeight[type], feeRate)

export const outpoint = (txId: TxId.TxId, vout: number): string => `${txId}:${vout}`
