import { Cause, Clock, Effect, Option, Schedule } from "effect"
import { waitMillis } from "../accounts/Stops.ts"
import * as Outages from "../base/Outage.ts"
import * as TraceContext from "../base/TraceContext.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import * as Broadcasts from "./Broadcasts.ts"
import { type Claim, laterMillis } from "./Claim.ts"
import type { Confirmed } from "./ConfirmedCache.ts"
import * as Destination from "./Destination.ts"
import * as WithdrawalOutcomes from "./WithdrawalOutcomes.ts"
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

/** Retries of the release of a task while the store is unavailable: about six seconds in total. */
const givingBack = { times: 5, schedule: Schedule.exponential("200 millis") } as const

type Outage = StoreUnavailable | NodeUnavailable | ChainUnavailable | SignerUnavailable
type Next = Payouts.Next | Payouts.Ready | Payees.Elsewhere

const now = Clock.currentTimeMillis

/** Returns the ways to give a claimed task back. None of them fails. */
const givers = (ends: PaymentEnds, paymentOptions: PaymentOptions["Service"]) => {
  /** A task that has been tried continues as another kind, so that new tasks do not wait behind it. */
  const kindAfter = ({ kind }: Task, isLost: boolean) =>
    kind === Withdrawal.payoutKind ? undefined : { kind: Withdrawal.paymentKind, lane: isLost ? LostWithdrawal.lane : "" }

  /**
   * A brief store outage delays the withdrawal only briefly. In a long one the claim is kept until
   * it ends, because an earlier release could repeat a call to the node too soon.
   */
  const giveBack = (task: Task, next: Payouts.Next): Effect.Effect<void> =>
    next === "done"
      ? ends.release(task)
      : Effect.flatMap(now, (atMillis) =>
          ends.giveBack(
            task,
            atMillis + (typeof next === "object" ? next.millis : laterMillis(task, paymentOptions)),
            kindAfter(task, typeof next === "object" ? next.isLost === true : next === "lost")
          )
        ).pipe(
          Effect.retry(givingBack),
          Effect.catch((error) =>
            Effect.andThen(
              ends.release(task),
              Outages.log("withdrawal: not released; stays claimed until the claim ends", Cause.fail(error))
            )
          )
        )

  /** After a takeover, the next attempt also waits until the previous process can no longer call the node. */
  const afterFailure = (task: Claim) =>
    Effect.flatMap(now, (atMillis) =>
      giveBack(task, {
        millis: Math.max(laterMillis(task, paymentOptions), (task.heldUntilMillis ?? 0) - atMillis),
        isLost: LostWithdrawal.isLost(task)
      })
    )

  return { giveBack, afterFailure }
}

/**
 * Advances claimed withdrawals by one step: resolves the payee, sends the payment, or looks it up. Requests to
 * payees' servers and to the signer are interrupted when `stopping` completes.
 */
export const make = Effect.fnUntraced(function* ({
  ends,
  stopping
}: {
  readonly ends: PaymentEnds
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

  const { giveBack, afterFailure } = givers(ends, paymentOptions)

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
    if (rail === "lightning") return yield* lightning.track(withdrawal, nodePayments.sent(withdrawal), dispatchedAtMillis, task)
    if (chainTxId !== null) return yield* tracking.track(withdrawal, dispatchedAtMillis, task)
    return yield* Effect.die("dispatched without an attempt")
  })

  /**
   * Runs one step of one task. Returns the withdrawal if it is ready for an on-chain transaction, which others
   * may share.
   */
  const take = Effect.fnUntraced(function* (task: Claim, known: Confirmed | undefined) {
    const found = known === undefined ? yield* records.withdrawal(task.companyId, task.id) : Option.some(known.withdrawal)
    if (found._tag === "Some" && found.value.status === "pending" && found.value.dispatchedAtMillis === null) {
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
