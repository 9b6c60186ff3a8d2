import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
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

export const outpoint = (txId: string, vout: number): string => `${txId}:${vout}`
