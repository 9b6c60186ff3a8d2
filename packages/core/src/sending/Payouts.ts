import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { type Conflict, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import { ChainSource, type ChainUnavailable, confirmations, type Placement } from "../nodes/ChainSource.ts"
import { ChainWallet, type Draft } from "../nodes/ChainWallet.ts"
import * as Coin from "../nodes/Coin.ts"
import { Signer, type SignerUnavailable } from "../nodes/Signer.ts"
import { Policy, type Settings } from "../policy/Policy.ts"
import * as Payout from "./Payout.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** What a step came to: the withdrawal ended (or somebody else has it now), or it is looked at again after `millis`, or when its turn comes. */
export type Next = "done" | "later" | { readonly millis: number }

/** A withdrawal that a transaction of ours is to pay, and the claim on its task. */
export interface Ready {
  readonly withdrawal: Withdrawal.Withdrawal
  readonly scriptPubKey: string
  readonly task: Task
}

type Outage = StoreUnavailable | ChainUnavailable | SignerUnavailable

const allowanceOf = ({ networkAllowance }: Withdrawal.Withdrawal) => networkAllowance

/**
 * Those that go out together: what was due at once, in the order it came, as many as one transaction may pay; without a window each by itself. So do those
 * that a process of an earlier version began: such a one may take them over.
 */
export const batches = (
  ready: ReadonlyArray<Ready>,
  { payoutWindowMillis, payoutOutputs }: Settings
): ReadonlyArray<ReadonlyArray<Ready>> => {
  const isTogether = ({ task }: Ready) => payoutWindowMillis > 0 && task.kind === Withdrawal.payoutKind
  const together = ready.filter(isTogether).toSorted((a, b) => (a.withdrawal.id < b.withdrawal.id ? -1 : 1))
  const full = Array.from({ length: Math.ceil(together.length / payoutOutputs) }, (_, n) =>
    together.slice(n * payoutOutputs, (n + 1) * payoutOutputs)
  )
  return [...ready.filter((one) => !isTogether(one)).map((one) => [one]), ...full]
}

/** Pays withdrawals with transactions of our own, any number with one. `settle` books one that was paid. */
export const make = Effect.fnUntraced(function* (
  settle: (
    withdrawal: Withdrawal.Withdrawal,
    settlement: Withdrawal.Settlement,
    task: Task
  ) => Effect.Effect<Next, StoreUnavailable | Conflict>
) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const wallet = yield* ChainWallet
  const signer = yield* Signer
  const policy = yield* Policy

  const now = Clock.currentTimeMillis

  const signed = Effect.fnUntraced(function* ({ psbt, coins, fee, change, isDeep }: Draft) {
    const { txId, rawTx } = yield* signer.sign(psbt)
    return { _tag: "Chain" as const, txId, rawTx, psbt, coins, networkFee: fee, change, isDeep }
  })

  const broadcast = Effect.fnUntraced(function* (withdrawal: Withdrawal.Withdrawal, rawTx: string) {
    const answer = yield* chain.broadcast(rawTx)
    if (answer._tag === "rejected") {
      yield* Effect.logError("payout: rejected by the network; stays pending until reviewed", {
        withdrawalId: withdrawal.id,
        reason: answer.reason
      })
    }
  })

  const waits = ({ withdrawal }: Ready) =>
    Effect.as(
      Effect.logWarning("payout: waiting for coins", {
        withdrawalId: withdrawal.id,
        neededSats: String(Msat.toSatsCeiling(Msat.sum(withdrawal.amount, withdrawal.networkAllowance)))
      }),
      { millis: policy.trackMillis.maximum }
    )

  /** What comes next for each of them. */
  const each = <E>(batch: ReadonlyArray<Ready>, next: (one: Ready) => Effect.Effect<Next, E>) =>
    Effect.forEach(batch, (one) => Effect.map(next(one), (next) => [one, next] as const))

  /**
   * Selected, signed, stored for all that it pays, and only then shown to anyone: from there on it is the same bytes, however often they are sent.
   * The first of them leads: its task is the work of following the transaction.
   */
  const send = (batch: ReadonlyArray<Ready>): Effect.Effect<ReadonlyArray<readonly [Ready, Next]>, Outage> => {
    // Another payout was first to spend a coin, or another process has one of them now: whoever is still ours chooses again.
    const again = () => each(batch, () => Effect.succeed({ millis: 0 }))
    return Effect.gen(function* () {
      const draft = yield* wallet.build({
        payments: batch.map(({ withdrawal, scriptPubKey }) => ({
          scriptPubKey,
          amount: withdrawal.amount,
          feeLimit: withdrawal.networkAllowance
        })),
        feeRate: yield* chain.feeRate,
        free: (outpoints) =>
          Effect.map(records.spentCoins(outpoints), (spent) => new Set(outpoints.filter((outpoint) => !spent.has(outpoint))))
      })
      const paid = batch.filter((_, place) => draft.pays.includes(place))
      const [leader, ...others] = paid
      if (leader === undefined) return yield* Effect.die("a transaction without outputs")
      const attempt = yield* signed(draft)
      const [, ...shares] = Payout.shares(
        attempt.networkFee,
        paid.map(({ withdrawal }) => withdrawal.networkAllowance)
      )
      const followers = others.map(({ task: { id, companyId, token } }, n) => ({
        id,
        companyId,
        token,
        networkFee: shares[n] ?? Msat.zero
      }))
      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))
      yield* broadcast(leader.withdrawal, attempt.rawTx)
      return yield* each(batch, (one) =>
        one === leader ? Effect.succeed("later") : others.includes(one) ? Effect.succeed("done") : waits(one)
      )
    }).pipe(
      Effect.catchTags({
        Unfundable: () => each(batch, waits),
        CoinTaken: again,
        StaleFence: again,
        AlreadyTerminal: again,
        Conflict: again,
        PaymentHashTaken: Effect.die
      })
    )
  }

  /** A payout that no block takes is offered again for more, from the same coins, to the same recipients: the first to be mined is the payout. */
  const replace = Effect.fnUntraced(
    function* (paid: ReadonlyArray<Withdrawal.Withdrawal>, newest: Withdrawal.Candidate, task: Task) {
      const [leader, ...others] = paid
      // Which transaction paid the one that settled is known, so there must be no other.
      if (leader === undefined || others.some(({ status }) => status !== "pending")) return
      const limit = Msat.make(Msat.sum(...paid.map(allowanceOf)) * BigInt(policy.replacement.allowances))
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
      const needed = candidates.length > 1 ? Math.max(policy.replacedConfirmations, policy.payoutConfirmations) : policy.payoutConfirmations
      if (confirmations(tip, placement.height) < needed) return "later"
      return yield* settleAll([withdrawal, ...(yield* records.followers(withdrawal.id))], candidate, task)
    }

    const last = found.at(-1)
    if (last !== undefined && last[1]._tag === "gone") yield* broadcast(withdrawal, newest.rawTx)
    const sinceMillis = newest === candidates[0] ? dispatchedAtMillis : withdrawal.updatedAtMillis
    if ((yield* now) - sinceMillis >= policy.replacement.afterMillis) {
      yield* replace([withdrawal, ...(yield* records.followers(withdrawal.id))], newest, task)
    }
    return "later"
  })

  return { send, track }
})
