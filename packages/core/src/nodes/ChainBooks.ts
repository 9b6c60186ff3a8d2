import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { ChainUnavailable } from "./ChainSource.ts"

/** A coin that we count on and the chain does not have. */
export interface Gone {
  /** `txid:vout`. */
  readonly outpoint: string
  readonly amount: Msat
}

/** What a wallet owns as the chain stands. */
export interface Holdings {
  /** Coins in blocks, and our own change that waits for one. A payout takes amount and fee out, at the latest when it is in a block. */
  readonly owned: Msat
  /** Not part of `owned`: spent outside the service with our keys, or their block is gone. */
  readonly gone: ReadonlyArray<Gone>
}

/** What the chain says that our wallet owns, whatever we have written down. */
export class ChainBooks extends Context.Service<
  ChainBooks,
  { readonly holdings: Effect.Effect<Holdings, ChainUnavailable | StoreUnavailable> }
>()("@satrail/core/nodes/ChainBooks") {}
