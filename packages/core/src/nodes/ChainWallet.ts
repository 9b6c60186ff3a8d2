import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Msat } from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { ChainUnavailable } from "./ChainSource.ts"
import type * as Coin from "./Coin.ts"

/** The available coins do not cover any of the payments with its fee. The payments can wait for more coins. */
export class Unfundable extends Schema.TaggedError<Unfundable>()("Unfundable", {
  neededSats: Schema.BigInt
}) {}

export interface Derived {
  readonly address: string
  readonly scriptPubKey: string
  /** The address's index among the wallet's receiving keys. No index is used twice. */
  readonly index: number
}

/** An unsigned payout. */
export interface Draft {
  /** PSBT (BIP 174) in base64. */
  readonly psbt: string
  /** The outpoints it spends, as `txid:vout`. */
  readonly coins: ReadonlyArray<string>
  readonly fee: Msat
  /** Change output; null if there is none. */
  readonly change: Coin.Change | null
  /** True if it spends change of an unconfirmed payout. */
  readonly isDeep: boolean
}

/** An output to a payee. */
export interface Payment {
  readonly scriptPubKey: string
  readonly amount: Msat
  /** The payment's contribution to the maximum mining fee. */
  readonly feeLimit: Msat
}

/**
 * One draft for several payments. It has an output for each included payment, in order, followed by the
 * change.
 */
export interface Batch extends Draft {
  /** Indexes of the requested payments that it includes, ascending. */
  readonly pays: ReadonlyArray<number>
}

/** A watch-only wallet: tracks coins and addresses without spending keys. */
export class ChainWallet extends Context.Service<
  ChainWallet,
  {
    /** Fingerprint of its master key, 4 bytes in hex. */
    readonly fingerprint: string
    readonly network: Network
    /** Returns a new address that has never been used. */
    readonly newAddress: (type: AddressType) => Effect.Effect<Derived, ChainUnavailable | StoreUnavailable>
    /**
     * Returns the places of the wallet's keys that lock these scripts. Searches the newest keys that were reserved.
     * Absent if the wallet cannot search its keys.
     */
    readonly placesOf?: (
      scriptPubKeys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, Coin.Place>, StoreUnavailable>
    /**
     * Builds a transaction that pays each payee exactly its amount. The mining fee is at most the sum of the
     * fee limits of the payments included, or 1 sat/vB if that is more. It spends only coins that `free`
     * allows; `free` is called once with all candidates. Coins are confirmed, or change of our payouts that is
     * at most one unconfirmed payout deep. If the coins do not cover all payments, it includes those that fit,
     * in order, and skips a payment that is too large.
     */
    readonly build: <E>(ask: {
      readonly payments: ReadonlyArray<Payment>
      readonly feeRate: number
      readonly free: (outpoints: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>
    }) => Effect.Effect<Batch, Unfundable | ChainUnavailable | StoreUnavailable | E>
  }
>()("@satrail/core/nodes/ChainWallet") {}
