import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { answerMillis } from "../../nodes/Channels.ts"
import { type Capacity, LightningBooks } from "../../nodes/LightningBooks.ts"
import { LightningReceiver } from "../../nodes/LightningReceiver.ts"
import * as Run from "./Run.ts"
import * as Runway from "./Runway.ts"

/** The hot wallet's funds at the last reconciliation, and how long they will last. */
export interface Wallet extends Runway.Runway {
  readonly atMillis: number
  readonly owned: Msat
}

export interface Standing {
  /** The node's public key. */
  readonly nodeId: string
  /** Current capacity of the node's channels; null if the node does not respond in time or cannot report it. */
  readonly channels: Capacity | null
  /** Null before the first reconciliation. */
  readonly wallet: Wallet | null
}

/** Current inbound and outbound liquidity, and how long the hot wallet's funds will last. */
export class Liquidity extends Context.Service<
  Liquidity,
  { readonly now: Effect.Effect<Standing, StoreUnavailable> }
>()("@satrail/core/reports/reconciliation/Liquidity") {}

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const { nodeId } = yield* LightningReceiver
  const books = yield* Effect.serviceOption(LightningBooks)
  const channels = Option.match(books, {
    onNone: () => Effect.succeedNone,
    onSome: ({ capacity }) =>
      capacity.pipe(
        Effect.timeoutOption(answerMillis),
        Effect.catch(() => Effect.succeedNone)
      )
  })
  const last = Effect.provideService(Run.last, LedgerReads, ledger)

  const walletOf = (run: Run.Run): Wallet | null => {
    const { atMillis, marks = [], chain } = run
    const runway = Runway.runway(marks, { ...Run.markOf(run), owned: chain.owned })
    return runway === undefined ? null : { ...runway, atMillis, owned: chain.owned }
  }

  return Liquidity.of({
    now: Effect.map(Effect.all([channels, last], { concurrency: "unbounded" }), ([capacity, run]) => ({
      nodeId,
      channels: Option.getOrNull(capacity),
      wallet: Option.getOrNull(Option.map(run, walletOf))
    }))
  })
})

export const layer = Layer.effect(Liquidity, make)
