import { Clock, Context, Effect, Layer } from "effect"
import * as Pages from "../base/Pages.ts"
import * as Worker from "../base/Worker.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { ChainSource, type ChainUnavailable, confirmations, type Tip } from "../nodes/ChainSource.ts"
import * as Confirmations from "../receiving/Confirmations.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import type { SettledPayout } from "./SendingReads.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

const pageSize = 500

/** Watches settled payouts until they have `payoutBuriedAt` confirmations. */
export class SettledPayouts extends Context.Service<
  SettledPayouts,
  {
    /**
     * Rebroadcasts payouts removed from their block by a reorganization, and stops watching those with enough
     * confirmations. Does nothing until there is a new block.
     */
    readonly look: Effect.Effect<void, ChainUnavailable | StoreUnavailable>
  }
>()("@satrail/core/sending/SettledPayouts") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const { payoutBuriedAt } = yield* PayoutOptions
  let lookedAt = ""

  const lookAt = Effect.fnUntraced(function* (payout: SettledPayout, tip: Tip) {
    const placement = yield* chain.transaction(payout.txId)
    if (placement._tag === "mined") {
      if (confirmations(tip, placement.height) >= payoutBuriedAt)
        yield* journal.commit(Withdrawal.buried(payout, yield* Clock.currentTimeMillis))
      return
    }
    yield* Effect.logWarning("payout: settled transaction no longer in a block; rebroadcast", {
      withdrawalId: payout.id
    })
    const answer = yield* chain.broadcast(payout.rawTx)
    if (answer._tag === "rejected") {
      yield* Effect.logError("payout: settled transaction rejected by the network; manual review needed", {
        withdrawalId: payout.id,
        reason: answer.reason
      })
    }
  })

  return SettledPayouts.of({
    look: Effect.gen(function* () {
      const tip = yield* chain.tip
      if (tip.hash === lookedAt) return
      yield* Pages.each(
        pageSize,
        (after: SettledPayout | null) => records.settledPayouts(after?.id ?? null, pageSize),
        (page) => Effect.forEach(page, (payout) => lookAt(payout, tip), { discard: true })
      )
      lookedAt = tip.hash
    })
  })
})

export const layer = Layer.effect(SettledPayouts, make)

/** Watches settled payouts while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { look } = yield* SettledPayouts
    const { chainPollMillis } = yield* Confirmations.Options
    yield* Duties.run("settled payouts", () =>
      Worker.run("settled payouts", look, Effect.sleep(chainPollMillis))
    )
  })
)
