import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { answerMillis } from "../../nodes/Channels.ts"
import { type Capacity, LightningBooks } from "../../nodes/LightningBooks.ts"
import { LightningReceiver } from "../../nodes/LightningReceiver.ts"
import * as Look from "./Look.ts"
import * as Runway from "./Runway.ts"

/** What the hot wallet owned at the last comparison, and how long that lasts. */
export interface Wallet extends Runway.Runway {
  readonly atMillis: number
  readonly owned: Msat
}

export interface Standing {
  /** The node's public key. */
  readonly nodeId: string
  /** What its channels can carry now; null where it does not answer in time, or has no statement. */
  readonly channels: Capacity | null
  /** null before the first comparison. */
  readonly wallet: Wallet | null
}

/** What can be sent and received now, and how long the hot wallet lasts. */
export class Liquidity extends Context.Service<Liquidity, { readonly now: Effect.Effect<Standing, StoreUnavailable> }>()(
  "@satrail/core/reports/reconciliation/Liquidity"
) {}

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
  const last = Effect.provideService(Look.last, LedgerReads, ledger)

  const walletOf = (look: Look.Look): Wallet | null => {
    const { atMillis, marks = [], chain } = look
    const runway = Runway.runway(marks, { ...Look.markOf(look), owned: chain.owned })
    return runway === undefined ? null : { ...runway, atMillis, owned: chain.owned }
  }

  return Liquidity.of({
    now: Effect.map(Effect.all([channels, last], { concurrency: "unbounded" }), ([capacity, look]) => ({
      nodeId,
      channels: Option.getOrNull(capacity),
      wallet: Option.getOrNull(Option.map(look, walletOf))
    }))
  })
})

export const layer = Layer.effect(Liquidity, make)
