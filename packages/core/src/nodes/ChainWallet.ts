import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Msat } from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { ChainUnavailable } from "./ChainSource.ts"
import type * as Coin from "./Coin.ts"

/** The coins at hand do not cover any of the payments and its fee. They can wait for more. */
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

/** A payee. */
export interface Payment {
  readonly scriptPubKey: string
  readonly amount: Msat
  /** What it adds to the most that mining may cost. */
  readonly feeLimit: Msat
}

/** One draft for several payments: an output for each that it pays, in their order, and then the change. */
export interface Batch extends Draft {
  /** The places of those payments that it pays, ascending, of those asked for. */
  readonly pays: ReadonlyArray<number>
}

/** Knows the coins and the addresses, and has no key that could spend them. */
export class ChainWallet extends Context.Service<
  ChainWallet,
  {
    /** The fingerprint of its master key, 4 bytes in hex. */
    readonly fingerprint: string
    readonly network: Network
    /** A fresh address that was never given out. */
    readonly newAddress: (type: AddressType) => Effect.Effect<Derived, ChainUnavailable | StoreUnavailable>
    /**
     * Puts a transaction together that pays each exactly its amount, and to the miners at most what all it pays allow together, from coins that
     * `free` lets through: it is asked about all candidates at once. They are confirmed, or change of our own that is one payout away from it.
     * Where the coins do not suffice for all, it pays as many as fit, in their order; one that is too large keeps none after it from being paid.
     */
    readonly build: <E>(ask: {
      readonly payments: ReadonlyArray<Payment>
      readonly feeRate: number
      readonly free: (outpoints: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>
    }) => Effect.Effect<Batch, Unfundable | ChainUnavailable | StoreUnavailable | E>
  }
>()("@satrail/core/nodes/ChainWallet") {}
