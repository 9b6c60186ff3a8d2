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

/** Where a transaction stands: in a block of the chain as it is now, waiting for one, or gone: never seen, or a conflicting one took its coins. */
export type Placement =
  | { readonly _tag: "mined"; readonly height: number; readonly isCoinbase: boolean }
  | { readonly _tag: "mempool" }
  | { readonly _tag: "gone" }

/** An output to a script of ours, as it stands now. */
export interface Output {
  readonly txId: TxId.TxId
  readonly vout: number
  readonly scriptPubKey: string
  readonly amount: Msat
  readonly placement: Placement
}

/** What came of offering a transaction to the network. `unknown` is not a rejection; and a rejected one may have been sent by another. */
export type Broadcast =
  | { readonly _tag: "accepted" }
  | { readonly _tag: "known" }
  | { readonly _tag: "rejected"; readonly reason: string }
  | { readonly _tag: "unknown" }

/** What happened since a cursor: each output of ours that came or moved, once, as it stands now. */
export interface Activity {
  readonly outputs: ReadonlyArray<Output>
  /** Up to this height every block is the one that the cursor has seen: whatever is recorded above must be looked up again. */
  readonly unchangedTo: number
  readonly tip: Tip
  readonly cursor: string
  /** How many blocks are still to be read: ask again with this cursor. */
  readonly blocksLeft: number
}

/** Which of these scripts are ours. It is asked about all outputs of a block at once. */
export type Ours<E> = (scriptPubKeys: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>

/** A coinbase output cannot be spent before it has this many confirmations. */
export const coinbaseMaturity = 100

/** How deep something at `height` is: in the tip it has one confirmation. */
export const confirmations = (tip: Tip, height: number): number => Math.max(0, tip.height - height + 1)

/** A view of the chain. */
export class ChainSource extends Context.Service<
  ChainSource,
  {
    readonly tip: Effect.Effect<Tip, ChainUnavailable>
    /**
     * What came after `after` (null: from where this source begins), a bounded number of blocks at a time. Answers at once, also with nothing.
     * Evictions by a reorganisation or a double spend are not reported here: `unchangedTo` is how far down to look again, `transaction` the current placement.
     */
    readonly activity: <E>(after: string | null, ours: Ours<E>) => Effect.Effect<Activity, ChainUnavailable | E>
    /** The place, now, of any transaction. */
    readonly transaction: (txId: TxId.TxId) => Effect.Effect<Placement, ChainUnavailable>
    /** Offers a signed transaction to the network. The same bytes any number of times are the same one transaction. */
    readonly broadcast: (rawTx: string) => Effect.Effect<Broadcast>
    /** What a transaction has to pay now to be mined soon, in whole satoshis for a virtual byte, at least 1. */
    readonly feeRate: Effect.Effect<number, ChainUnavailable>
  }
>()("@satrail/core/nodes/ChainSource") {}
