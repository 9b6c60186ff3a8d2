import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { ChainUnavailable } from "./ChainSource.ts"

/** A recorded coin that is missing from the chain. */
export interface Gone {
  /** `txid:vout`. */
  readonly outpoint: string
  readonly amount: Msat
}

/** A wallet's funds in the current chain. */
export interface Holdings {
  /**
   * Confirmed coins, plus the service's own unconfirmed change. A payout's amount and fee are excluded by the
   * time it confirms, possibly earlier.
   */
  readonly owned: Msat
  /**
   * Coins not included in `owned`, because they were spent with our keys outside the service, or a
   * reorganization removed their block.
   */
  readonly gone: ReadonlyArray<Gone>
}

/** Reports the wallet's funds as the chain shows them, independent of the service's records. */
export class ChainBooks extends Context.Service<
  ChainBooks,
  { readonly holdings: Effect.Effect<Holdings, ChainUnavailable | StoreUnavailable> }
>()("@satrail/core/nodes/ChainBooks") {}
