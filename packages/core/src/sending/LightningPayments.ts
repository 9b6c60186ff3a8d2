import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Effect, Option, Result, Semaphore } from "effect"
import { waitMillis } from "../accounts/Stops.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence } from "../ledger/Tasks.ts"
import type { FailureReason } from "../nodes/LightningSender.ts"
import { type Claim, heldMillis, mayCall } from "./Claim.ts"
import { type WithdrawalOutcomes, overtaken } from "./WithdrawalOutcomes.ts"
import type { PaymentEnds } from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as LostPayments from "./LostPayments.ts"
import * as LostResult from "./LostResult.ts"
import * as LostWithdrawal from "./LostWithdrawal.ts"
import type { Next } from "./Payouts.ts"
import { SendingReads } from "./SendingReads.ts"
import * as UnsentWithdrawals from "./UnsentWithdrawals.ts"
import type { NewPayment, NodePayment, PaymentState } from "./NodePayments.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"

const reasons: Record<FailureReason, Withdrawal.Failure> = {
  timeout: "timeout",
  no_route: "no_route",
  error: "node_error",
  incorrect_payment_details: "incorrect_payment_details",
  insufficient_balance: "insufficient_liquidity",
  canceled: "canceled",
  channel_closed: "channel_closed"
}

/**
 * Applies the node's response. Only a final result makes a withdrawal final; `pending` and `unknown` lead to
 * another lookup.
 */
const conclusions = ({ fail, settle }: WithdrawalOutcomes) =>
  Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    nodePayment: NodePayment,
    payment: PaymentState,
    task: Claim
  ): Effect.fn.Return<Next, StoreUnavailable> {
    switch (payment._tag) {
      case "settled": {
        const reportedHash =
          nodePayment.paymentHash === null && "paymentHash" in payment ? payment.paymentHash : undefined
        const hash = nodePayment.paymentHash ?? reportedHash
        if (hash !== undefined && Preimage.proves(payment.preimage, hash)) {
          return yield* settle(
            withdrawal,
            {
              preimage: payment.preimage,
              ...(reportedHash !== undefined && { reportedHash }),
              chainTxId: null,
              networkFee: payment.fee,
              paymentIndex: payment.index
            },
            task
          ).pipe(Effect.catchTag("Conflict", Effect.die))
        }
        yield* Effect.logError(
          "withdrawal: the node reported a settlement without a valid preimage; stays pending",
          {
            withdrawalId: withdrawal.id
          }
        )
        return "later"
      }
      case "failed":
        // An earlier call that may still reach the node would start the payment again.
        if (heldMillis(task, yield* Clock.currentTimeMillis) > 0) return "later"
        return yield* fail(withdrawal, reasons[payment.reason], task)
      case "pending":
      case "unknown":
        return "later"
    }
  })

/** Pays withdrawals over Lightning. Sends each payment once, and tracks it until the node's final result. */
export const make = Effect.fnUntraced(function* (outcomes: WithdrawalOutcomes, ends: PaymentEnds) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const maySend = yield* WithdrawalHooks.sending
  const options = yield* PaymentOptions
  const places = yield* Semaphore.make(options.paymentsAtOnce)

  const now = Clock.currentTimeMillis

  const { fail } = outcomes
  const conclude = conclusions(outcomes)
  const unsent = UnsentWithdrawals.make()
  const recordOf = yield* LostPayments.make
  const resultOf = yield* LostResult.tracked

  const pay = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    nodePayment: NodePayment,
    task: Claim
  ): Effect.fn.Return<Next, StoreUnavailable> {
    // If this process was suspended, another one may hold the job. It may have seen this payment fail, and may
    // have released the funds.
    if (!mayCall(task, yield* now)) return "later"
    // The company may have been frozen, or a refund's deposit removed, while the node was away. An earlier call may have
    // reached the node, so a withdrawal that may `never` be sent does not fail here, but in `track`.
    if ((yield* maySend(withdrawal)) !== "now") {
      unsent.note(task)
      return { millis: waitMillis }
    }
    unsent.forget(task)
    const payment = yield* nodePayment.pay.pipe(
      // A call that crashed may still have reached the node.
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("withdrawal: the call to pay crashed; its outcome is unknown", cause), {
          _tag: "unknown"
        } as const)
      )
    )
    if (payment._tag === "notSent") {
      unsent.note(task)
      return "later"
    }
    // The call may still be in flight. While that is possible, do not call again, even if the node has no
    // record of the payment.
    if (payment._tag === "unknown") {
      const untilMillis = (yield* now) + nodePayment.graceMillis
      return {
        claim: { ...task, heldUntilMillis: Math.max(task.heldUntilMillis ?? 0, untilMillis), isCalled: true }
      }
    }
    return yield* conclude(withdrawal, nodePayment, payment, task)
  })

  return {
    /**
     * Stores the key by which the node identifies the payment, so that a later worker knows which payment to
     * look up. Then calls the node. Waits for one of `paymentsAtOnce` slots, and frees the slot when the node
     * has responded.
     */
    send: (
      withdrawal: Withdrawal.Withdrawal,
      nodePayment: NewPayment,
      task: Claim
    ): Effect.Effect<Next, StoreUnavailable> =>
      Effect.gen(function* () {
        const atMillis = yield* now
        const payable = nodePayment.check(options, atMillis)
        if (Result.isFailure(payable)) {
          return yield* fail(
            withdrawal,
            payable.failure.code === "invoice_expired" ? "invoice_expired" : "invoice_not_payable",
            task
          )
        }
        // The withdrawal may have waited long for the payee's server or for a slot.
        if ((yield* maySend(withdrawal)) !== "now") return { millis: waitMillis }
        yield* ends.hold(task, nodePayment.key)
        // A commit without a response may have taken effect, but nothing has been sent.
        unsent.note(task)
        yield* journal.commit(Withdrawal.dispatched(withdrawal, nodePayment.attempt, fence(task), atMillis))
        return yield* pay(withdrawal, nodePayment, task)
      }).pipe(
        (sending) => places.withPermit(sending),
        Effect.catchTags({
          // The paying withdrawal is revealed only to its own company.
          PaymentHashTaken: ({ paymentHash }) =>
            Effect.flatMap(records.withdrawalByHash(paymentHash), (earlier) => {
              const isOwn = Option.exists(earlier, ({ companyId }) => companyId === withdrawal.companyId)
              return fail(withdrawal, isOwn ? "payment_hash_used" : "invoice_not_payable", task)
            }),
          StaleFence: overtaken,
          AlreadyTerminal: overtaken,
          Conflict: overtaken, // the withdrawal already pays another invoice
          CoinTaken: Effect.die
        })
      ),

    /** Looks up a payment that was sent, and applies the result. */
    track: Effect.fnUntraced(function* (
      withdrawal: Withdrawal.Withdrawal,
      nodePayment: NodePayment,
      dispatchedAtMillis: number,
      task: Claim
    ): Effect.fn.Return<Next, StoreUnavailable> {
      yield* ends.hold(task, nodePayment.key)
      const isUnsent = unsent.isStill(task)
      // While the node does not respond, what it last reported still holds.
      const isLost = LostWithdrawal.isLost(task)
      const payment = yield* nodePayment.lookup
      const unknown = isLost ? "lost" : "later"
      if (payment._tag === "unknown") return unknown
      const result = yield* resultOf(payment, nodePayment.paymentHash)
      if (result !== null) return result === "unknown" ? unknown : result === "lost" ? "lost" : "later"
      if (payment._tag !== "notFound") return yield* conclude(withdrawal, nodePayment, payment, task)
      // The node has no record of the payment. That does not mean that the payment failed, because an earlier call may
      // still be in flight. Send the payment; the node pays each hash or attempt only once while it has not failed.
      const isHeld = heldMillis(task, yield* now) > 0
      if (isHeld && task.isCalled) return "later"
      // A claim that knows of the earlier call delays a failure instead.
      const graceEndMillis =
        isUnsent || task.heldUntilMillis !== undefined ? 0 : dispatchedAtMillis + nodePayment.graceMillis
      const leftMillis = graceEndMillis - (yield* now)
      if (leftMillis > 0) return { millis: leftMillis }
      const isBeforeLoss = dispatchedAtMillis < (payment.lostBeforeMillis ?? 0)
      const record = isBeforeLoss ? "lost" : yield* recordOf(dispatchedAtMillis)
      if (record !== "kept") return record === "lost" ? "lost" : unknown
      // A second call would be harmless if the first one arrived late after all, but a failure would not. So the
      // withdrawal fails only once the node also refuses such a call.
      if ((yield* maySend(withdrawal)) === "never" && nodePayment.isRefused(yield* now)) {
        return isHeld ? "later" : yield* fail(withdrawal, "canceled", task)
      }
      return yield* places.withPermit(pay(withdrawal, nodePayment, task))
    })
  }
})

export type LightningPayments = Effect.Success<ReturnType<typeof make>>
