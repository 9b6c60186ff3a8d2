import * as Msat from "@satrail/bitcoin/Msat"
import type { TxId } from "@satrail/bitcoin/TxId"
import { Clock, Context, Effect, Layer, Option, type Result } from "effect"
import * as OperatorRequests from "../accounts/OperatorRequests.ts"
import { type Operator, SameOperator } from "../accounts/SecondOperator.ts"
import type { Invalid } from "../base/Invalid.ts"
import { found, Journal, type NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainSource, ChainUnavailable } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import * as BookedPayouts from "./BookedPayouts.ts"
import * as LostPayout from "./LostPayout.ts"
import * as LostResult from "./LostResult.ts"
import * as LostWithdrawal from "./LostWithdrawal.ts"
import * as NodePayments from "./NodePayments.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

type Refused = NotFound | LostWithdrawal.WithdrawalNotLost | NodeUnavailable | StoreUnavailable

/** Ends withdrawals whose payment, or its result, the node has lost, on an operator's evidence. */
export class LostWithdrawals extends Context.Service<
  LostWithdrawals,
  {
    /**
     * Settles a lost withdrawal whose payee was paid. Repeating it has no further effect. `networkFee` is the
     * routing fee, as far as known.
     */
    readonly settle: (
      id: string,
      evidence: LostWithdrawal.Evidence
    ) => Effect.Effect<Withdrawal.Withdrawal, Refused | Invalid>
    /**
     * Releases the funds of a lost withdrawal whose payee was not paid and can no longer claim the payment. A payout
     * is released with all others of its transaction, and `spentBy` is the transaction that spent its coins.
     * Repeating it has no further effect. If the node has lost only the payment's result, the first operator's
     * request is stored, and another operator must repeat it within a day. `by` is undefined if the host program
     * releases it.
     */
    readonly release: (
      id: string,
      spentBy?: TxId,
      by?: Operator
    ) => Effect.Effect<Withdrawal.Withdrawal, Refused | Invalid | ChainUnavailable | SameOperator>
    /**
     * Books a transaction of the wallet that the database lacks, as after a restore, as the payout of these pending
     * on-chain withdrawals (at least one). Fails unless the chain shows that it pays just them. From then on it is
     * tracked, and settles when it is deep enough. Returns the withdrawals. Repeating it has no further effect.
     */
    readonly book: (
      txId: TxId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Withdrawal.Withdrawal>, Refused | Invalid | ChainUnavailable>
  }
>()("@satrail/core/sending/LostWithdrawals") {}

/**
 * Makes a check that succeeds if another operator requested this release, or if the host program makes it. A payment
 * whose result is lost may settle after all, and its release then loses the operator's money.
 */
const confirming = Effect.map(OperatorRequests.make, ({ confirm }) =>
  Effect.fnUntraced(function* ({ id, companyId }: Withdrawal.Withdrawal, by: Operator | undefined) {
    if (by === undefined || (yield* confirm({ id, companyId, action: "release", toCompanyId: null }, by)))
      return
    return yield* new SameOperator({ id, name: by.name })
  })
)

/**
 * Makes a function that reads everything that decides whether a payout is lost. The tip is read first, so the spender
 * has at least as many confirmations as it implies.
 */
const finding = Effect.gen(function* () {
  const records = yield* SendingReads
  const chain = yield* ChainSource

  const seen = Effect.fnUntraced(function* <A extends Pick<LostPayout.Seen, "txId" | "rawTx">>(one: A) {
    return { ...one, placement: yield* chain.transaction(one.txId) }
  })

  return Effect.fnUntraced(function* (leader: Withdrawal.Withdrawal, spentBy: TxId) {
    const tip = yield* chain.tip
    const spender = yield* seen({ txId: spentBy, rawTx: (yield* chain.rawTransaction(spentBy)) ?? "" })
    const isRead = Effect.sync(() => LostPayout.read(spender.rawTx).txId === spentBy)
    if (
      spender.placement._tag !== "gone" &&
      !(yield* Effect.catchDefect(isRead, () => Effect.succeed(false)))
    ) {
      const cause = new Error(`the chain reports the transaction ${spentBy}, but does not return it`)
      return yield* new ChainUnavailable({ operation: "rawTransaction", cause })
    }
    const candidates = yield* Effect.forEach(yield* records.candidates(leader.companyId, leader.id), seen)
    const parents = new Map<string, Withdrawal.Withdrawal>()
    for (const outpoint of new Set(candidates.flatMap(({ rawTx }) => LostPayout.read(rawTx).inputs))) {
      const parent = yield* records.payoutOf(Coin.txIdOf(outpoint))
      if (Option.isSome(parent)) parents.set(outpoint, parent.value)
    }
    const followers = yield* records.followers(leader.id)
    const paidBySpender = Option.getOrNull(yield* records.payoutOf(spentBy))
    return { leader, followers, candidates, parents, spender, paidBySpender, tip } satisfies LostPayout.Found
  })
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* SendingReads
  const findPayout = yield* finding
  const { lookup } = yield* NodePayments.make
  const inFlight = yield* LostResult.inFlight
  const confirmed = yield* confirming

  const book = yield* BookedPayouts.make

  const get = (id: string) => found("withdrawal", id, records.withdrawalById(id))

  /**
   * Commits what `decide` returns, once `check` has succeeded. The Change has no fence: the worker may be looking the
   * payment up at the same time, and the first of both to end the withdrawal wins.
   */
  const end = Effect.fnUntraced(function* <E, A = never>(
    withdrawal: Withdrawal.Withdrawal,
    decide: (
      found: LostWithdrawal.Found,
      atMillis: number
    ) => Result.Result<Withdrawal.WithdrawalSettled | Withdrawal.WithdrawalFailed, E>,
    check: (found: LostWithdrawal.Found) => Effect.Effect<void, A> = () => Effect.void
  ) {
    const { id, companyId } = withdrawal
    const job = Option.getOrNull(yield* ledger.job(companyId, id))
    const payment = LostWithdrawal.isLost(job) ? yield* lookup(withdrawal) : null
    if (payment?._tag === "unknown")
      return yield* new NodeUnavailable({
        operation: "lookupPayment",
        cause: "the node does not report whether it has the payment"
      })
    const { paymentHash } = withdrawal
    const isPending = payment?._tag === "pending" && paymentHash !== null && inFlight !== undefined
    const result = isPending ? LostResult.judge(payment, paymentHash, yield* inFlight) : undefined
    const found = { withdrawal, job, payment, ...(result !== undefined && { result }) }
    const change = yield* Effect.fromResult(decide(found, yield* Clock.currentTimeMillis))
    yield* check(found)
    yield* journal.commit(change).pipe(
      Effect.catchTags({
        AlreadyTerminal: ({ status }) =>
          Effect.fail(
            new LostWithdrawal.WithdrawalNotLost({
              id,
              status: status === "failed" ? "failed" : "settled",
              untilMillis: null
            })
          ),
        Conflict: () =>
          Effect.fail(new LostWithdrawal.WithdrawalNotLost({ id, status: "settled", untilMillis: null })),
        StaleFence: Effect.die // no fence is passed
      })
    )
    yield* Effect.logWarning("withdrawal: lost payment ended by an operator", {
      withdrawalId: id,
      companyId,
      outcome: change._tag === "WithdrawalSettled" ? "settled" : "failed",
      sats: Msat.toDecimalSats(withdrawal.amount)
    })
    return yield* get(id)
  })

  const releasePayout = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    spentBy: TxId | undefined
  ) {
    const { chainTxId, id, status } = withdrawal
    const leader = chainTxId === null ? Option.none() : yield* records.payoutOf(chainTxId)
    if (status === "settled" || (status === "failed" && Option.isNone(leader)))
      return yield* new LostWithdrawal.WithdrawalNotLost({ id, status, untilMillis: null })
    // A process may have died before it released the leader, which comes last.
    if (Option.isSome(leader) && leader.value.status === "failed") return withdrawal
    if (spentBy === undefined)
      return yield* Effect.fromResult(LostPayout.refused("is required for an on-chain withdrawal"))
    if (Option.isNone(leader))
      return yield* Effect.fromResult(
        LostPayout.refused("requires a withdrawal that was sent (this one was not)")
      )
    const changes = LostPayout.unpaid(
      yield* findPayout(leader.value, spentBy),
      yield* Clock.currentTimeMillis
    )
    for (const change of yield* Effect.fromResult(changes)) {
      yield* Effect.catchTags(journal.commit(change), {
        AlreadyTerminal: () =>
          Effect.fail(
            new LostWithdrawal.WithdrawalNotLost({ id: change.id, status: "settled", untilMillis: null })
          ),
        Conflict: () =>
          Effect.fromResult(
            LostPayout.refused("must spend a coin of a replacement that was just sent; repeat the command")
          )
      })
      const { companyId, amount } = change
      const told = { withdrawalId: change.id, companyId, spentBy, sats: Msat.toDecimalSats(amount) }
      yield* Effect.logWarning("withdrawal: lost payout released by an operator", told)
    }
    return yield* get(id)
  })

  return LostWithdrawals.of({
    book,
    settle: Effect.fnUntraced(function* (id, evidence) {
      const withdrawal = yield* get(id)
      if (withdrawal.status === "settled" && withdrawal.preimage === evidence.preimage) return withdrawal
      return yield* end(withdrawal, (found, atMillis) => LostWithdrawal.paid(found, evidence, atMillis))
    }),
    release: Effect.fnUntraced(function* (id, spentBy, by) {
      const withdrawal = yield* get(id)
      if (withdrawal.rail === "on_chain") return yield* releasePayout(withdrawal, spentBy)
      if (spentBy !== undefined)
        return yield* Effect.fromResult(LostPayout.refused("is for on-chain withdrawals (this one is not)"))
      if (withdrawal.failure === Withdrawal.releasedFailure) return withdrawal
      return yield* end(withdrawal, LostWithdrawal.unpaid, ({ result }) =>
        result === undefined ? Effect.void : confirmed(withdrawal, by)
      )
    })
  })
})

export const layer = Layer.effect(LostWithdrawals, make)
