import { Cause, Clock, Effect, Option } from "effect"
import { waitMillis } from "../accounts/Stops.ts"
import * as Outages from "../base/Outage.ts"
import * as TraceContext from "../base/TraceContext.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import * as Broadcasts from "./Broadcasts.ts"
import { type Claim, heldMillis, isEnded, laterMillis } from "./Claim.ts"
import type { Confirmed } from "./ConfirmedCache.ts"
import * as Destination from "./Destination.ts"
import * as WithdrawalOutcomes from "./WithdrawalOutcomes.ts"
import type { KeptClaims } from "./KeptClaims.ts"
import * as LightningPayments from "./LightningPayments.ts"
import * as LostWithdrawal from "./LostWithdrawal.ts"
import * as Payees from "./Payees.ts"
import type { PaymentEnds } from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Payouts from "./Payouts.ts"
import * as PayoutTracking from "./PayoutTracking.ts"
import { SendingReads } from "./SendingReads.ts"
import * as NodePayments from "./NodePayments.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"

const unbounded = { concurrency: "unbounded" } as const

/** The longest pause between attempts to release a task while the store is unavailable. */
const keptMillis = 1000

type Outage = StoreUnavailable | NodeUnavailable | ChainUnavailable | SignerUnavailable
type Next = Payouts.Next | Payouts.Ready | Payees.Elsewhere

const now = Clock.currentTimeMillis

/** Returns the ways to give a claimed task back, none of which fails. */
const givers = (ends: PaymentEnds, kept: KeptClaims, paymentOptions: PaymentOptions["Service"]) => {
  /** A task that has been tried continues as another kind, so that new tasks do not wait behind it. */
  const kindAfter = ({ kind }: Task, isLost: boolean) =>
    kind === Withdrawal.payoutKind
      ? undefined
      : { kind: Withdrawal.paymentKind, lane: isLost ? LostWithdrawal.lane : "" }

  /**
   * Releases a task, or keeps its claim: while an earlier call may still reach the node, because the next claim would
   * not know of that call, and while the store is unavailable.
   */
  const giveBack = (claim: Claim, next: Payouts.Next): Effect.Effect<void> =>
    next === "done"
      ? ends.release(claim)
      : Effect.gen(function* () {
          const task = typeof next === "object" && "claim" in next ? next.claim : claim
          const atMillis = yield* now
          const millis =
            typeof next === "object" && "millis" in next ? next.millis : laterMillis(task, paymentOptions)
          const isLost = next === "lost"
          const held = heldMillis(task, atMillis)
          if (held > 0 && !isLost && task.kind !== Withdrawal.payoutKind)
            return kept.keep(task, atMillis + Math.min(millis, held))
          yield* ends
            .giveBack(task, atMillis + (isLost ? Math.max(millis, held) : millis), kindAfter(task, isLost))
            .pipe(
              Effect.catch((error) =>
                Effect.andThen(
                  Effect.sync(() =>
                    kept.keep(task, atMillis + Math.min(laterMillis(task, paymentOptions), keptMillis))
                  ),
                  Outages.log("withdrawal: not released; will retry", Cause.fail(error))
                )
              )
            )
        })

  /** After a takeover, the next attempt at a payout also waits until the previous process's claim would have ended. */
  const afterFailure = (task: Claim) =>
    Effect.flatMap(now, (atMillis) => {
      const millis = Math.max(laterMillis(task, paymentOptions), heldMillis(task, atMillis))
      return giveBack(
        task,
        LostWithdrawal.isLost(task) ? "lost" : task.kind === Withdrawal.payoutKind ? { millis } : "later"
      )
    })

  /** Never fails. On any error, the withdrawals stay as they are and are retried. */
  const insistent = <A, E>(effect: Effect.Effect<A, E>, claims: ReadonlyArray<Claim>) =>
    Effect.asSome(effect).pipe(
      Effect.catchCause((cause) =>
        Outages.log("withdrawal: step failed; will retry", cause).pipe(
          Effect.andThen(Effect.forEach(claims, afterFailure, unbounded)),
          Effect.as(Option.none<A>())
        )
      ),
      Effect.annotateLogs({ withdrawalId: claims.map(({ id }) => id).join(" ") })
    )

  return { giveBack, insistent }
}

/**
 * Advances claimed withdrawals by one step: resolves the payee, sends the payment, or looks it up. Requests to
 * payees' servers and to the signer are interrupted when `stopping` completes.
 */
export const make = Effect.fnUntraced(function* ({
  ends,
  kept,
  stopping
}: {
  readonly ends: PaymentEnds
  readonly kept: KeptClaims
  readonly stopping: Effect.Effect<void>
}) {
  const records = yield* SendingReads
  const tasks = yield* Tasks
  const maySend = yield* WithdrawalHooks.sending
  const paymentOptions = yield* PaymentOptions
  const payoutOptions = yield* PayoutOptions

  const outcomes = yield* WithdrawalOutcomes.make
  const lightning = yield* LightningPayments.make(outcomes, ends)
  const nodePayments = yield* NodePayments.make
  const payees = yield* Payees.make(outcomes, lightning, nodePayments)
  const broadcasts = yield* Broadcasts.make(stopping)
  const payouts = yield* Payouts.make(broadcasts)
  const tracking = yield* PayoutTracking.make(outcomes, broadcasts)

  const around = yield* TraceContext.make

  const { giveBack, insistent } = givers(ends, kept, paymentOptions)

  const advance = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    task: Claim,
    parsed: Destination.Destination | undefined
  ): Effect.fn.Return<Next, Outage> {
    const { status, rail, chainTxId, dispatchedAtMillis } = withdrawal
    if (status !== "pending") return "done"
    if (dispatchedAtMillis === null) {
      const destination = parsed ?? Destination.stored(withdrawal)
      return task.kind === Withdrawal.recipientKind
        ? yield* payees.begin(withdrawal, destination, task, stopping)
        : yield* payees.beginHere(withdrawal, destination, task)
    }
    if (rail === "lightning")
      return yield* lightning.track(withdrawal, nodePayments.sent(withdrawal), dispatchedAtMillis, task)
    if (chainTxId !== null) return yield* tracking.track(withdrawal, dispatchedAtMillis, task)
    return yield* Effect.die("dispatched without an attempt")
  })

  /**
   * Runs one step of one task. Returns the withdrawal if it is ready for an on-chain transaction, which others
   * may share.
   */
  const take = Effect.fnUntraced(function* (claim: Claim, known: Confirmed | undefined) {
    if (isEnded(claim, yield* now)) {
      yield* giveBack(claim, { millis: 0 })
      return []
    }
    const found =
      known === undefined
        ? yield* records.withdrawal(claim.companyId, claim.id)
        : Option.some(known.withdrawal)
    const isFresh =
      found._tag === "Some" && found.value.status === "pending" && found.value.dispatchedAtMillis === null
    // The fence keeps a previous process from dispatching it now, so no earlier call exists.
    const task: Claim = isFresh ? { ...claim, heldUntilMillis: 0 } : claim
    if (isFresh) {
      const answer = yield* maySend(found.value)
      if (answer === "never") {
        yield* giveBack(task, yield* outcomes.fail(found.value, "canceled", task))
        return []
      }
      if (answer === "later") {
        // The withdrawal was not tried, so the kind of its task does not change.
        yield* ends.giveBack(task, (yield* now) + waitMillis)
        return []
      }
    }
    const next = found._tag === "Some" ? yield* advance(found.value, task, known?.destination) : "done"
    if (typeof next === "object" && "withdrawal" in next) return [next]
    if (typeof next === "object" && "host" in next) {
      yield* tasks.postpone(task, yield* now, { kind: Withdrawal.recipientKind, lane: next.host })
      return []
    }
    yield* giveBack(task, next)
    return []
  })

  /** If a batch crashes, each payout is sent alone, so that only the faulty one is left for manual review. */
  const sendOnChain = (batch: ReadonlyArray<Payouts.Ready>): Effect.Effect<unknown> => {
    const sent: Effect.Effect<unknown, Outage> = Effect.flatMap(payouts.send(batch), (all) =>
      Effect.forEach(all, ([{ task }, next]) => giveBack(task, next), unbounded)
    )
    const apart = (defect: unknown) =>
      Effect.andThen(
        Effect.logError("batch: failed; trying each payout alone", defect),
        Effect.forEach(batch, (one) => sendOnChain([one]), unbounded)
      )
    return insistent(
      batch.length === 1 ? sent : Effect.catchDefect(sent, apart),
      batch.map(({ task }) => task)
    )
  }

  /**
   * Runs one step of each claim. On-chain withdrawals due at the same time may share a transaction. `known`
   * is a withdrawal that was just confirmed and is not read again.
   */
  return (claims: ReadonlyArray<Claim>, known?: Confirmed) =>
    Effect.gen(function* () {
      const ready = yield* Effect.forEach(
        claims,
        (claim) => insistent(around("PaymentWorker.step", claim.id)(take(claim, known)), [claim]),
        unbounded
      )
      const batches = Payouts.batches(ready.flatMap(Option.toArray).flat(), payoutOptions)
      yield* Effect.forEach(batches, sendOnChain, unbounded)
    })
})
