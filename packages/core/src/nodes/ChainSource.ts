import type { Msat } from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, Schema } from "effect"
import * as Outage from "../base/Outage.ts"

/** The chain could not be read. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect(),
  ...Outage.words
}) {}

export interface Tip {
  readonly height: number
  readonly hash: string
}

/**
 * Status of a transaction: in a block of the current chain, in the mempool, or gone. A transaction is `gone` if
 * it was never seen or a conflicting one spent its coins.
 */
export type Placement =
  | { readonly _tag: "mined"; readonly height: number; readonly isCoinbase: boolean }
  | { readonly _tag: "mempool" }
  | { readonly _tag: "gone" }

/** The current state of an output to one of our scripts. */
export interface Output {
  readonly txId: TxId.TxId
  readonly vout: number
  readonly scriptPubKey: string
  readonly amount: Msat
  readonly placement: Placement
}

/**
 * Result of a broadcast. `unknown` is not a rejection. A `rejected` transaction may still have been broadcast
 * by someone else.
 */
export type Broadcast =
  | { readonly _tag: "accepted" }
  | { readonly _tag: "known" }
  | { readonly _tag: "rejected"; readonly reason: string }
  | { readonly _tag: "unknown" }

/**
 * Changes since a cursor. Each of our outputs that appeared or changed is listed once, in its current state.
 */
export interface Activity {
  readonly outputs: ReadonlyArray<Output>
  /** Highest block that the chain still shares with the cursor. Check all records above this height again. */
  readonly unchangedTo: number
  readonly tip: Tip
  readonly cursor: string
  /** Number of blocks not read yet. If it is not zero, call `activity` again with this cursor. */
  readonly blocksLeft: number
}

/** Returns which of these scripts are ours. Called once with all outputs of a block. */
export type Ours<E> = (scriptPubKeys: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>

/** A coinbase output cannot be spent before it has this many confirmations. */
export const coinbaseMaturity = 100

/** Returns the number of confirmations at `height`. A transaction in the tip has one. */
export const confirmations = (tip: Tip, height: number): number => Math.max(0, tip.height - height + 1)

/** Reads the chain and broadcasts transactions. */
export class ChainSource extends Context.Service<
  ChainSource,
  {
    readonly tip: Effect.Effect<Tip, ChainUnavailable>
    /**
     * Returns activity after `after` (null: from where this source starts), for a limited number of blocks.
     * Returns immediately even if there is none. Reports a transaction that another one replaced in the mempool, or
     * that was evicted from it, but not one removed by a reorganization. Check transactions above `unchangedTo` with
     * `transaction`.
     */
    readonly activity: <E>(
      after: string | null,
      ours: Ours<E>
    ) => Effect.Effect<Activity, ChainUnavailable | E>
    /** Returns the current status of any transaction. */
    readonly transaction: (txId: TxId.TxId) => Effect.Effect<Placement, ChainUnavailable>
    /**
     * Returns a transaction in the mempool or a block, in hex; null if the source doesn't know it. One that is `gone`
     * may be returned too.
     */
    readonly rawTransaction: (txId: TxId.TxId) => Effect.Effect<string | null, ChainUnavailable>
    /** Returns the time in the header of the block at this height, in Unix seconds. */
    readonly timeSecondsAt: (height: number) => Effect.Effect<number, ChainUnavailable>
    /**
     * Broadcasts a signed transaction. Repeating the call is safe, because the same bytes are the same
     * transaction.
     */
    readonly broadcast: (rawTx: string) => Effect.Effect<Broadcast>
    /** Fee rate for a transaction to confirm soon, in whole sats per virtual byte, at least 1. */
    readonly feeRate: Effect.Effect<number, ChainUnavailable>
  }
>()("@satrail/core/nodes/ChainSource") {}
