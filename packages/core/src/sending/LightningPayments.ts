import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Effect, Option, Result, Semaphore } from "effect"
import { Stops, waitMillis } from "../accounts/Stops.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence } from "../ledger/Tasks.ts"
import type { FailureReason } from "../nodes/LightningSender.ts"
import { type Claim, laterMillis, mayCall } from "./Claim.ts"
import { type Endings, overtaken } from "./Endings.ts"
import type { PaymentEnds } from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import type { Next } from "./Payouts.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Unsent from "./Unsent.ts"
import type { Fresh, Told, Way } from "./Ways.ts"
import * as Withdrawal from "./Withdrawal.ts"

const reasons: Record<FailureReason, Withdrawal.Failure> = {
  timeout: "timeout",
  no_route: "no_route",
  error: "node_error",
  incorrect_payment_details: "incorrect_payment_details",
  insufficient_balance: "insufficient_liquidity",
  canceled: "canceled",
  channel_closed: "channel_closed"
}

/** The meaning of the node's response. Only its final result ends anything: `pending` and `unknown` are looked up again. */
const conclusions = ({ fail, settle }: Endings) =>
  Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    way: Way,
    payment: Told,
    task: Claim
  ): Effect.fn.Return<Next, StoreUnavailable> {
    switch (payment._tag) {
      case "settled": {
        const reportedHash = way.paymentHash === null && "paymentHash" in payment ? payment.paymentHash : undefined
        const hash = way.paymentHash ?? reportedHash
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
        yield* Effect.logError("withdrawal: the node reports it settled without a valid preimage; stays pending", {
          withdrawalId: withdrawal.id
        })
        return "later"
      }
      case "failed":
        return yield* fail(withdrawal, reasons[payment.reason], task)
      case "pending":
      case "unknown":
        return "later"
    }
  })

/** Pays withdrawals over Lightning: sends each once, and follows it until the node's final result. */
export const make = Effect.fnUntraced(function* (endings: Endings, ends: PaymentEnds) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const stops = yield* Stops
  const options = yield* PaymentOptions
  const places = yield* Semaphore.make(options.paymentsAtOnce)

  const now = Clock.currentTimeMillis

  const { fail } = endings
  const conclude = conclusions(endings)
  const unsent = Unsent.make()

  const pay = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    way: Way,
    task: Claim
  ): Effect.fn.Return<Next, StoreUnavailable> {
    // The process slept: another one may have the job by now, and may have seen this payment fail and released the money.
    if (!mayCall(task, yield* now)) return "later"
    unsent.forget(task)
    const payment = yield* way.pay.pipe(
      // A call that broke has been made all the same.
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("withdrawal: the call to pay crashed; its outcome is unknown", cause), { _tag: "unknown" } as const)
      )
    )
    if (payment._tag === "notSent") {
      unsent.note(task)
      return "later"
    }
    // The call may still be under way. Until it cannot be, that the node does not know the payment would be no reason to call again.
    if (payment._tag === "unknown") return { millis: Math.max(laterMillis(task, options), way.graceMillis) }
    return yield* conclude(withdrawal, way, payment, task)
  })

  return {
    /**
     * What the node will know it by is stored, and only then the node is called: a later worker knows which payment to look up. Waits for one of
     * `paymentsAtOnce` places, and leaves it when the node has answered.
     */
    send: (withdrawal: Withdrawal.Withdrawal, way: Fresh, task: Claim): Effect.Effect<Next, StoreUnavailable> =>
      Effect.gen(function* () {
        const atMillis = yield* now
        const payable = way.check(options, atMillis)
        if (Result.isFailure(payable)) {
          return yield* fail(withdrawal, payable.failure.code === "invoice_expired" ? "invoice_expired" : "invoice_not_payable", task)
        }
        // It may have waited long, for its payee's server and for a place.
        if (yield* stops.waits(withdrawal.companyId)) return { millis: waitMillis }
        yield* ends.hold(task, way.key)
        yield* journal.commit(Withdrawal.dispatched(withdrawal, way.attempt, fence(task), atMillis))
        return yield* pay(withdrawal, way, task)
      }).pipe(
        (sending) => places.withPermit(sending),
        Effect.catchTags({
          // Only the payer's own company is shown the withdrawal that pays it.
          PaymentHashTaken: ({ paymentHash }) =>
            Effect.flatMap(records.withdrawalByHash(paymentHash), (earlier) => {
              const isOwn = Option.exists(earlier, ({ companyId }) => companyId === withdrawal.companyId)
              return fail(withdrawal, isOwn ? "payment_hash_used" : "invoice_not_payable", task)
            }),
          StaleFence: overtaken,
          AlreadyTerminal: overtaken,
          Conflict: overtaken, // it pays another invoice
          CoinTaken: Effect.die
        })
      ),

    /** The state of a payment that was sent. */
    track: Effect.fnUntraced(function* (
      withdrawal: Withdrawal.Withdrawal,
      way: Way,
      dispatchedAtMillis: number,
      task: Claim
    ): Effect.fn.Return<Next, StoreUnavailable> {
      yield* ends.hold(task, way.key)
      const isUnsent = unsent.isStill(task)
      const payment = yield* way.lookup
      if (payment._tag !== "notFound") return yield* conclude(withdrawal, way, payment, task)
      // The node has no record of it. That is no failure: a call by a process that died may still be on its way. Once none can be, it is sent; the node pays a hash or an attempt once.
      // A process from which it was taken over may be slow rather than dead, and calls the node until its claim ends.
      const graceEndMillis = isUnsent ? 0 : dispatchedAtMillis + way.graceMillis
      const waitMillis = Math.max(graceEndMillis, task.heldUntilMillis ?? 0) - (yield* now)
      if (waitMillis > 0) return { millis: waitMillis }
      return yield* places.withPermit(pay(withdrawal, way, task))
    })
  }
})

export type LightningPayments = Effect.Success<ReturnType<typeof make>>
