import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import { ChainSource, confirmations, type Placement } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import type { Broadcasts } from "./Broadcasts.ts"
import type { Claim } from "./Claim.ts"
import type { WithdrawalOutcomes } from "./WithdrawalOutcomes.ts"
import * as Payout from "./Payout.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import type { Next, Outage } from "./Payouts.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

const allowanceOf = ({ networkAllowance }: Withdrawal.Withdrawal) => networkAllowance

/**
 * Tracks sent payouts until one of their transactions has enough confirmations. Settles, replaces and
 * rebroadcasts them.
 */
export const make = Effect.fnUntraced(function* (
  { settle }: WithdrawalOutcomes,
  { alone, signed, broadcast, isFirst }: Broadcasts
) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const options = yield* PayoutOptions

  const now = Clock.currentTimeMillis

  /**
   * Replaces an unconfirmed payout with a transaction that spends the same coins, pays the same payees and has
   * a higher fee. Whichever of the two confirms is the payout.
   */
  const replace = Effect.fnUntraced(
    function* (
      paid: ReadonlyArray<Withdrawal.Withdrawal>,
      newest: Withdrawal.Candidate,
      isInMempool: boolean,
      task: Claim
    ) {
      const [leader, ...others] = paid
      // If one payout of the batch is settled, its transaction is final, so do not create another one.
      if (leader === undefined || others.some(({ status }) => status !== "pending")) return
      const limit = { allowance: Msat.sum(...paid.map(allowanceOf)), times: options.replacement.allowances }
      const feeRate = yield* chain.feeRate
      const draft = Payout.replacement({ ...newest, fee: newest.networkFee }, feeRate, limit)
      if (draft === "current") return
      if (draft === "limited") {
        if (!isFirst(leader.id, draft)) return
        const fee = {
          feeSats: String(Msat.toSats(newest.networkFee)),
          feeRate,
          hasChange: newest.change !== null
        }
        return yield* Effect.logWarning("payout: fee cannot be raised", { withdrawalId: leader.id, ...fee })
      }
      const attempt = yield* signed(draft)
      const change = newest.change && Coin.outpoint(newest.txId, newest.change.vout)
      const [, ...shares] = Payout.shares(attempt.networkFee, paid.map(allowanceOf))
      const followers = others.map(({ id, companyId }, n) => ({
        id,
        companyId,
        networkFee: shares[n] ?? Msat.zero
      }))
      yield* journal.commit(
        Withdrawal.replaced(
          leader,
          attempt,
          { txId: newest.txId, change },
          fence(task),
          yield* now,
          followers
        )
      )
      yield* broadcast(leader, attempt, isInMempool)
    },
    Effect.catchTags({
      // Another payout spends this payout's change and could then never confirm. The other payout can be
      // replaced instead.
      CoinTaken: () => Effect.void,
      StaleFence: () => Effect.void,
      AlreadyTerminal: () => Effect.void,
      Conflict: () => Effect.void
    })
  )

  /**
   * Settles each withdrawal with its share of the mining fee. The leader comes last, because the remaining ones
   * are found through its task.
   */
  const settleAll = Effect.fnUntraced(
    function* (
      paid: ReadonlyArray<Withdrawal.Withdrawal>,
      { networkFee, txId }: Withdrawal.Candidate,
      task: Task
    ) {
      const shares = Payout.shares(networkFee, paid.map(allowanceOf))
      const settled = paid.map((withdrawal, n) =>
        settle(
          withdrawal,
          { preimage: null, chainTxId: txId, networkFee: shares[n] ?? Msat.zero, paymentIndex: null },
          task
        )
      )
      const [last = Effect.succeed<Next>("done"), ...others] = settled
      yield* Effect.all(others, { concurrency: "unbounded", discard: true })
      return yield* last
    },
    Effect.catchTag("Conflict", Effect.die)
  )

  /** Tracks the transaction led by this withdrawal. */
  const track = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    dispatchedAtMillis: number,
    task: Claim
  ): Effect.fn.Return<Next, Outage> {
    const candidates = yield* records.candidates(withdrawal.companyId, withdrawal.id)
    const newest = candidates.at(-1)
    // This withdrawal is not a leader, because only a leader has signed transactions. While this process was
    // suspended, the withdrawal joined another withdrawal's transaction. The task of that withdrawal handles
    // both.
    if (newest === undefined) return "done"
    // Read the tip first. If a transaction is then found in a block, it has at least as many confirmations as
    // this tip implies, even if blocks arrived in between.
    const tip = yield* chain.tip
    const found: Array<readonly [Withdrawal.Candidate, Placement]> = []
    for (const candidate of candidates) found.push([candidate, yield* chain.transaction(candidate.txId)])

    for (const [candidate, placement] of found) {
      if (placement._tag !== "mined") continue
      const needed =
        candidates.length > 1
          ? Math.max(options.replacedConfirmations, options.payoutConfirmations)
          : options.payoutConfirmations
      if (confirmations(tip, placement.height) < needed) return "later"
      return yield* settleAll([withdrawal, ...(yield* records.followers(withdrawal.id))], candidate, task)
    }

    const isInMempool = found.some(([, { _tag }]) => _tag === "mempool")
    if (found.at(-1)?.[1]._tag === "gone") yield* broadcast(withdrawal, newest, isInMempool)
    const sinceMillis = newest === candidates[0] ? dispatchedAtMillis : withdrawal.updatedAtMillis
    if ((yield* now) - sinceMillis >= options.replacement.afterMillis) {
      yield* alone(
        [task],
        replace([withdrawal, ...(yield* records.followers(withdrawal.id))], newest, isInMempool, task)
      )
    }
    return "later"
  })

  return { track }
})
