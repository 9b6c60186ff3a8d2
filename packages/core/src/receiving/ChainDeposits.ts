import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Pages from "../base/Pages.ts"
import * as Worker from "../base/Worker.ts"
import type { Fence } from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Chain from "../nodes/ChainSource.ts"
import { ChainSource } from "../nodes/ChainSource.ts"
import * as Confirmations from "./Confirmations.ts"
import * as CreditShares from "./CreditShares.ts"
import * as Deposit from "./Deposit.ts"
import { DepositJobs } from "./DepositJobs.ts"
import * as FeeRates from "./FeeRates.ts"
import * as Outputs from "./Outputs.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Reclaims from "./Reclaims.ts"

const pageSize = 500

/**
 * Number of evicted deposits checked again at each new block, newest first. After the oldest one, the scan
 * starts over.
 */
const givenUpAtOnce = 50

/** Interval between full checks while the chain does not change. */
const againMillis = 60_000

const source = "chain"

/**
 * Follows the chain: records incoming deposits, credits them when they have enough confirmations, reverses credits
 * after a reorganization, and reclaims what a reversal could not debit.
 */
export class ChainDeposits extends Context.Service<
  ChainDeposits,
  {
    /**
     * Advances toward the current chain tip. Returns the number of blocks still to be read. Leaves the cursor
     * unchanged if another process holds the lease.
     */
    readonly follow: (
      fence?: Fence
    ) => Effect.Effect<number, Chain.ChainUnavailable | StoreUnavailable | Deposit.DepositMoved>
  }
>()("@satrail/core/receiving/ChainDeposits") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const chain = yield* ChainSource
  const options = yield* Confirmations.Options
  const entropy = yield* Entropy
  const rates = yield* FeeRates.make
  const outputs = yield* Outputs.make(rates)
  const jobsOf = yield* DepositJobs
  const withShares = yield* CreditShares.make
  const reclaim = yield* Reclaims.make
  let checkedAt = ""
  let givenUpBefore: string | null = null

  const ours = (scriptPubKeys: ReadonlyArray<string>) =>
    scriptPubKeys.length === 0
      ? Effect.succeed(new Set<string>())
      : Effect.map(
          receiving.onChainAddresses(scriptPubKeys),
          (found) => new Set(found.map(({ scriptPubKey }) => scriptPubKey))
        )

  const deepest = Math.max(...options.confirmations.map(({ confirmations }) => confirmations), 0)

  /**
   * Reads the next page of evicted deposits. This finds the block of a payment that was rebroadcast or wrongly
   * considered evicted, however old the deposit is.
   */
  const nextGivenUp = Effect.gen(function* () {
    const found = yield* receiving.depositsGivenUp(givenUpBefore, givenUpAtOnce)
    givenUpBefore = found.length < givenUpAtOnce ? null : (found.at(-1)?.id ?? null)
    return found
  })

  /**
   * Rechecks all deposits in blocks above the last block known to be unchanged. At a new block, also checks
   * unconfirmed deposits and some of the evicted ones. Returns the number checked.
   *
   * Deposits above the blocks read so far wait for theirs: after a rescan, each page of blocks would otherwise read and
   * check thousands of deposits.
   */
  const recheck = Effect.fnUntraced(function* ({ tip, unchangedTo, blocksLeft }: Chain.Activity) {
    const readTo = blocksLeft === 0 ? null : tip.height - blocksLeft
    const uncertain = yield* Pages.all(pageSize, (after: Deposit.Deposit | null) =>
      receiving.depositsAbove(unchangedTo, readTo, after?.id ?? null, pageSize)
    )
    const isNew = tip.hash !== checkedAt
    const inNoBlock = isNew
      ? yield* Pages.all(pageSize, (after: Deposit.Deposit | null) =>
          receiving.depositsInNoBlock(after?.id ?? null, pageSize)
        )
      : []
    const givenUp = isNew ? yield* nextGivenUp : []
    const all = [...uncertain, ...inNoBlock, ...givenUp]
    yield* outputs.settle(all.flatMap(Outputs.outpointsOf))
    checkedAt = tip.hash
    return all.length
  })

  /**
   * Credits deposits with enough confirmations at this tip. The number required depends on the largest of the
   * deposit's amount, its company's unconfirmed total and the total in its block, so that splitting a payment
   * does not lower it. Deposits deeper than the highest requirement are not part of these totals. Returns the
   * number of deposits with enough confirmations.
   */
  const confirm = Effect.fnUntraced(function* (tip: Chain.Tip) {
    const { ofCompany, inBlock } = yield* receiving.depositsUnconfirmed(tip.height - deepest)
    const inBlocks = yield* Pages.all(pageSize, (after: Deposit.Deposit | null) =>
      receiving.depositsInBlocks(after?.id ?? null, pageSize)
    )
    const deep: Array<{ readonly txId: TxId.TxId; readonly deposit: Deposit.Deposit }> = []
    for (const deposit of inBlocks) {
      const { chainTxId, height, amount, companyId } = deposit
      if (chainTxId === null || height === null) continue
      const atRisk = Msat.greatest(
        amount,
        ofCompany.get(companyId) ?? Msat.zero,
        inBlock.get(height) ?? Msat.zero
      )
      if (Chain.confirmations(tip, height) < Confirmations.neededFor(options, atRisk)) continue
      deep.push({ txId: chainTxId, deposit })
    }
    // Each transaction is looked up once, however many deposits it has.
    for (const [txId, group] of Map.groupBy(deep, ({ txId }) => txId)) {
      // Query the chain again, so that a payment removed by an unreported reorganization is not credited. Some
      // reorganizations are never reported, because the first process to find an output may record stale data
      // after the others have moved past it.
      const placement = yield* chain.transaction(txId)
      const height = placement._tag === "mined" ? placement.height : undefined
      const elsewhere = group.filter(({ deposit }) => deposit.height !== height)
      yield* outputs.settle(elsewhere.flatMap(({ deposit }) => Outputs.outpointsOf(deposit)))
      if (placement._tag !== "mined") continue
      if (placement.isCoinbase && Chain.confirmations(tip, placement.height) < Chain.coinbaseMaturity)
        continue
      for (const { deposit } of group) {
        if (deposit.height !== placement.height) continue
        const atMillis = yield* Clock.currentTimeMillis
        const change = { ...Deposit.confirmed(deposit, atMillis), jobs: jobsOf(deposit, atMillis) }
        const shared = yield* withShares(change, deposit)
        yield* Effect.catchTag(journal.commit(shared), "DepositMoved", () => Effect.void) // another process was first
      }
    }
    return deep.length
  })

  /**
   * The tip at which the last check found no work, and the time of that check. Until the tip changes, the
   * store is not read.
   */
  let quiet: { readonly cursor: string; readonly hash: string; readonly atMillis: number } | undefined
  const isQuiet = ({ tip, cursor, outputs, unchangedTo, blocksLeft }: Chain.Activity, nowMillis: number) =>
    cursor === quiet?.cursor &&
    tip.hash === quiet.hash &&
    outputs.length + blocksLeft === 0 &&
    unchangedTo >= tip.height &&
    nowMillis < quiet.atMillis + againMillis

  return ChainDeposits.of({
    follow: Effect.fnUntraced(function* (fence) {
      const atMillis = yield* Clock.currentTimeMillis
      const before = quiet === undefined ? yield* ledger.cursor(source) : Option.some(quiet.cursor)
      const activity = yield* chain.activity(before._tag === "Some" ? before.value : null, ours)
      const { tip, cursor, blocksLeft } = activity
      yield* rates.sample(tip)
      if (isQuiet(activity, atMillis)) return 0
      quiet = undefined
      yield* outputs.meet(activity.outputs)
      const rechecked = yield* recheck(activity)
      // Move the cursor last. After a crash before this line, the outputs are processed again, which changes
      // nothing.
      if (before._tag === "None" || before.value !== cursor) {
        const nowMillis = yield* Clock.currentTimeMillis
        yield* journal
          .commit(
            Cursor.moved({ source, value: cursor }, Id.fromMillis(nowMillis, entropy), nowMillis, fence)
          )
          .pipe(Effect.catchTag("StaleFence", () => Effect.void))
      }
      const deep = yield* confirm(tip)
      const owed = yield* reclaim
      if (
        before._tag === "Some" &&
        before.value === cursor &&
        activity.outputs.length + rechecked + deep + owed + blocksLeft === 0
      )
        quiet = { cursor, hash: tip.hash, atMillis }
      if (blocksLeft > 0) yield* Effect.logInfo("chain: catching up", { blocksLeft, tip: tip.height })
      return blocksLeft
    })
  })
})

export const layer = Layer.effect(ChainDeposits, make)

/** Follows the chain while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow } = yield* ChainDeposits
    const { chainPollMillis } = yield* Confirmations.Options
    yield* Duties.run("chain", (fence) => {
      let isBehind = false
      const step = Effect.map(follow(fence), (blocksLeft) => {
        isBehind = blocksLeft > 0
      })
      return Worker.run(
        "chain deposits",
        step,
        Effect.suspend(() => Effect.sleep(isBehind ? 0 : chainPollMillis))
      )
    })
  })
)
