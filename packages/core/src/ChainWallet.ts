import { Context, type Effect, Schema } from "effect"
import type { AddressType } from "./BitcoinAddress.ts"
import type { ChainUnavailable } from "./ChainSource.ts"
import type * as Coin from "./Coin.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Msat } from "./Msat.ts"
import type { Network } from "./Network.ts"

/** The coins at hand do not cover the payout and its fee. It can wait for more. */
export class Unfundable extends Schema.TaggedError<Unfundable>()("Unfundable", { neededSats: Schema.BigInt }) {}

export interface Derived {
  readonly address: string
  readonly scriptPubKey: string
  /** Its place among the wallet's receiving keys. No place is given out twice. */
  readonly index: number
}

/** A payout that is put together but not signed. */
export interface Draft {
  /** BIP 174, in base64. */
  readonly psbt: string
  /** The outpoints it spends, `txid:vout`. */
  readonly coins: ReadonlyArray<string>
  readonly fee: Msat
  /** What comes back to us, and in which output; null where nothing does. */
  readonly change: Coin.Change | null
  /** Whether it spends change of a payout that is not in a block yet. */
  readonly isDeep: boolean
}

/** Knows the coins and the addresses, and has no key that could spend them. */
export class ChainWallet extends Context.Service<
  ChainWallet,
  {
    /** The fingerprint of its master key, 4 bytes in hex. */
    readonly fingerprint: string
    readonly network: Network
    /** A fresh address that nobody was ever given. */
    readonly newAddress: (type: AddressType) => Effect.Effect<Derived, ChainUnavailable | StoreUnavailable>
    /**
     * Puts a transaction together that pays exactly `amount` to `scriptPubKey` and at most `feeLimit` to the miners, from coins that `free`
     * lets through: it is asked about all candidates at once. They are confirmed, or change of our own that is one payout away from it.
     */
    readonly build: <E>(ask: {
      readonly scriptPubKey: string
      readonly amount: Msat
      readonly feeRate: number
      readonly feeLimit: Msat
      readonly free: (outpoints: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>
    }) => Effect.Effect<Draft, Unfundable | ChainUnavailable | StoreUnavailable | E>
  }
>()("core/ChainWallet") {}
