import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import { ChainSource, confirmations, type Placement } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import * as Broadcasts from "./Broadcasts.ts"
import type { Endings } from "./Endings.ts"
import * as Payout from "./Payout.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import type { Next, Outage } from "./Payouts.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

const allowanceOf = ({ networkAllowance }: Withdrawal.Withdrawal) => networkAllowance

/** Follows payouts that were sent until a block deep enough has one of their transactions: settles them, replaces them, and sends them again. */
export const make = Effect.fnUntraced(function* ({ settle }: Endings) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const options = yield* PayoutOptions
  const { signed, broadcast } = yield* Broadcasts.make

  const now = Clock.currentTimeMillis

  /** A payout that no block takes is offered again for more, from the same coins, to the same recipients: the first to be mined is the payout. */
  const replace = Effect.fnUntraced(
    function* (paid: ReadonlyArray<Withdrawal.Withdrawal>, newest: Withdrawal.Candidate, task: Task) {
      const [leader, ...others] = paid
      // Which transaction paid the one that settled is known, so there must be no other.
      if (leader === undefined || others.some(({ status }) => status !== "pending")) return
      const limit = Msat.make(Msat.sum(...paid.map(allowanceOf)) * BigInt(options.replacement.allowances))
      const draft = Payout.replacement({ ...newest, fee: newest.networkFee }, yield* chain.feeRate, limit)
      if (draft === undefined) {
        return yield* Effect.logDebug("payout: not mined yet, and not replaced", { withdrawalId: leader.id })
      }
      const attempt = yield* signed(draft)
      const change = newest.change && Coin.outpoint(newest.txId, newest.change.vout)
      const [, ...shares] = Payout.shares(attempt.networkFee, paid.map(allowanceOf))
      const followers = others.map(({ id, companyId }, n) => ({ id, companyId, networkFee: shares[n] ?? Msat.zero }))
      yield* journal.commit(Withdrawal.replaced(leader, attempt, { txId: newest.txId, change }, fence(task), yield* now, followers))
      yield* broadcast(leader, attempt.rawTx)
    },
    Effect.catchTags({
      // Its change is spent by another payout, which would never be mined without this one. That other one can be replaced.
      CoinTaken: () => Effect.void,
      StaleFence: () => Effect.void,
      AlreadyTerminal: () => Effect.void,
      Conflict: () => Effect.void
    })
  )

  /** Each with its share of what mining did cost, the one that leads last: with it the work ends, and until then it is known who is left. */
  const settleAll = Effect.fnUntraced(
    function* (paid: ReadonlyArray<Withdrawal.Withdrawal>, { networkFee, txId }: Withdrawal.Candidate, task: Task) {
      const shares = Payout.shares(networkFee, paid.map(allowanceOf))
      const settled = paid.map((withdrawal, n) =>
        settle(withdrawal, { preimage: null, chainTxId: txId, networkFee: shares[n] ?? Msat.zero, paymentIndex: null }, task)
      )
      const [last = Effect.succeed<Next>("done"), ...others] = settled
      yield* Effect.all(others, { concurrency: "unbounded", discard: true })
      return yield* last
    },
    Effect.catchTag("Conflict", Effect.die)
  )

  /** Follows the transaction that this withdrawal leads. */
  const track = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    dispatchedAtMillis: number,
    task: Task
  ): Effect.fn.Return<Next, Outage> {
    const candidates = yield* records.candidates(withdrawal.companyId, withdrawal.id)
    const newest = candidates.at(-1)
    // Only for who leads anything was signed. We slept, and this one follows another by now, whose task pays for both.
    if (newest === undefined) return "done"
    // Asked first: what is in a block after that is at least as deep as it is counted, whatever the chain did in between.
    const tip = yield* chain.tip
    const found: Array<readonly [Withdrawal.Candidate, Placement]> = []
    for (const candidate of candidates) found.push([candidate, yield* chain.transaction(candidate.txId)])

    for (const [candidate, placement] of found) {
      if (placement._tag !== "mined") continue
      const needed =
        candidates.length > 1 ? Math.max(options.replacedConfirmations, options.payoutConfirmations) : options.payoutConfirmations
      if (confirmations(tip, placement.height) < needed) return "later"
      return yield* settleAll([withdrawal, ...(yield* records.followers(withdrawal.id))], candidate, task)
    }

    const last = found.at(-1)
    if (last !== undefined && last[1]._tag === "gone") yield* broadcast(withdrawal, newest.rawTx)
    const sinceMillis = newest === candidates[0] ? dispatchedAtMillis : withdrawal.updatedAtMillis
    if ((yield* now) - sinceMillis >= options.replacement.afterMillis) {
      yield* replace([withdrawal, ...(yield* records.followers(withdrawal.id))], newest, task)
    }
    return "later"
  })

  return { track }
})
