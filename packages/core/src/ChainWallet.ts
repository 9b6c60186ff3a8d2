import { Context, type Effect, Schema } from "effect"
import type { AddressType } from "./BitcoinAddress.ts"
import type { ChainUnavailable } from "./ChainSource.ts"
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
}

/** Knows the coins and the addresses, and has no key that could spend them. */
export class ChainWallet extends Context.Service<
  ChainWallet,
  {
    /** The fingerprint of its master key, 4 bytes in hex. */
    readonly fingerprint: string
    readonly network: Network
    /** A fresh address that nobody was ever given. */
    readonly newAddress: (type: AddressType) => Effect.Effect<Derived, ChainUnavailable>
    /**
     * Puts a transaction together that pays exactly `amount` to `scriptPubKey` and at most `feeLimit` to the miners, from confirmed coins
     * that `free` lets through: it is asked about all candidates at once.
     */
    readonly build: <E>(ask: {
      readonly scriptPubKey: string
      readonly amount: Msat
      readonly feeRate: number
      readonly feeLimit: Msat
      readonly free: (outpoints: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>
    }) => Effect.Effect<Draft, Unfundable | ChainUnavailable | E>
  }
>()("core/ChainWallet") {}
