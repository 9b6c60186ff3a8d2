import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"

/**
 * Derivation path of a key in a wallet: account by address type, receiving (0) or change (1) branch, and
 * index (BIP 44).
 */
export const Place = Schema.Struct({ type: AddressType, branch: Schema.Literals([0, 1]), index: Schema.Int })
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** An unspent output of our wallet. */
export const Coin = Schema.Struct({
  /** `txid:vout`. */
  outpoint: Schema.String,
  scriptPubKey: Schema.String,
  amount: Msat.Msat,
  ...Place.fields,
  /** True if it has the required confirmations. Otherwise, it is change of a pending payout. */
  isConfirmed: Schema.Boolean
})
export interface Coin extends Schema.Schema.Type<typeof Coin> {}

/** Change output of an unsigned payout, whose transaction has no id yet. */
export interface Change extends Place {
  /** Fingerprint of the wallet that receives the change. */
  readonly wallet: string
  readonly vout: number
  readonly scriptPubKey: string
  readonly amount: Msat.Msat
}

/** Weight of an input by address type. Assumes the longest signature, so a fee is never below its rate. */
export const inputWeight: { readonly [type in AddressType]: number } = {
  taproot: 230,
  segwit: 272,
  nested_segwit: 364
}

/** Returns the fee of `weight` at `feeRate` sats per virtual byte, rounded up. */
export const feeFor = (weight: number, feeRate: number): bigint => BigInt(Math.ceil((weight * feeRate) / 4))

/**
 * Returns the cost of adding a coin of this type to a transaction as an input. For taproot at 10 sats per
 * virtual byte, the cost is 575 sats.
 */
export const spendingSats = (type: AddressType, feeRate: number): bigint => feeFor(inputWeight[type], feeRate)

export const outpoint = (txId: TxId.TxId, vout: number): string => `${txId}:${vout}`

export const txIdOf = (outpoint: string): TxId.TxId => TxId.make(outpoint.slice(0, outpoint.indexOf(":")))
