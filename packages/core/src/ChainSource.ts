import { Context, type Effect, Schema } from "effect"
import type { Msat } from "./Msat.ts"

/** The chain could not be read. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

export interface Tip {
  readonly height: number
  readonly hash: string
}

/** Where a transaction stands: in a block of the chain as it is now, waiting for one, or gone: never seen, or a conflicting one took its coins. */
export type Placement = { readonly _tag: "mined"; readonly height: number } | { readonly _tag: "mempool" } | { readonly _tag: "gone" }

/** An output to a watched script, as it stands now. */
export interface Output {
  readonly txId: string
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

/** What happened to watched scripts since a cursor: each output once, as it stands at `tip`. */
export interface Activity {
  readonly outputs: ReadonlyArray<Output>
  readonly tip: Tip
  readonly cursor: string
}

/** How deep something at `height` is: in the tip it has one confirmation. */
export const confirmations = (tip: Tip, height: number): number => Math.max(0, tip.height - height + 1)

/** A view of the chain. */
export class ChainSource extends Context.Service<
  ChainSource,
  {
    readonly tip: Effect.Effect<Tip, ChainUnavailable>
    /** From here on `activity` tells about these scripts. Watching one twice is watching it once. */
    readonly watch: (scriptPubKeys: ReadonlyArray<string>) => Effect.Effect<void, ChainUnavailable>
    /** What changed after `after` (null: from the beginning), reorganisations included. Answers at once, also with nothing. */
    readonly activity: (after: string | null) => Effect.Effect<Activity, ChainUnavailable>
    /** The place, now, of a transaction that pays a watched script or was broadcast here. */
    readonly transaction: (txId: string) => Effect.Effect<Placement, ChainUnavailable>
    /** Offers a signed transaction to the network. The same bytes any number of times are the same one transaction. */
    readonly broadcast: (rawTx: string) => Effect.Effect<Broadcast>
    /** What a transaction has to pay now to be mined soon, in whole satoshis for a virtual byte, at least 1. */
    readonly feeRate: Effect.Effect<number, ChainUnavailable>
  }
>()("core/ChainSource") {}
