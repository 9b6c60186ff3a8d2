import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type * as Msat from "@satrail/bitcoin/Msat"
import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Result, Schema } from "effect"
import { Invalid } from "../base/Invalid.ts"
import type * as Waiting from "../ledger/Waiting.ts"
import * as LostResult from "./LostResult.ts"
import type { LookupResult } from "./NodePayments.ts"
import * as Withdrawal from "./Withdrawal.ts"

// A withdrawal is lost if its node has lost the record of its payment, or its result. It stays pending, because the
// payee may still be paid, until an operator finds out whether it was.

/** The lane of a lost withdrawal's task. It contains a space, so it is never the name of a payee's host. */
export const lane = "lost payment"

/** Returns whether a withdrawal's task is that of a lost withdrawal. */
export const isLost = (job: Pick<Waiting.Job, "kind" | "lane"> | null): boolean =>
  job !== null && job.kind === Withdrawal.paymentKind && job.lane === lane

/**
 * Time for which a payee may still claim a payment after the last attempt. Nodes lock a payment for at most
 * 2016 blocks (lnd's `max-cltv-expiry`), which take two weeks on average. The slowest 2016 blocks since 2010
 * took three, so this is four.
 */
export const claimableMillis = 28 * 86_400_000

/**
 * The withdrawal cannot be ended by an operator. `untilMillis` is set if its payee may claim it until then, and `result`
 * if the node reports its payment as pending.
 */
export class WithdrawalNotLost extends Schema.TaggedError<WithdrawalNotLost>()("WithdrawalNotLost", {
  id: Schema.String,
  status: Withdrawal.Withdrawal.fields.status,
  untilMillis: Schema.NullOr(Schema.Int),
  result: Schema.optionalKey(LostResult.Verdict)
}) {}

/** A withdrawal with its job, and with what the node reports of its payment; null if the node was not asked. */
export interface Found {
  readonly withdrawal: Withdrawal.Withdrawal
  readonly job: Waiting.Job | null
  readonly payment: LookupResult | null
  /** Whether the node has lost the result of a payment that it reports as pending. */
  readonly result?: LostResult.Verdict
}

/** Proof of a payment, and its routing fee. */
export interface Evidence {
  readonly preimage: Preimage.Preimage
  readonly networkFee: Msat.Msat
}

interface Sent {
  /** Null for an offer, because the node has lost it. */
  readonly paymentHash: PaymentHash | null
  /** The latest time at which the payee can claim the payment. */
  readonly claimableUntilMillis: number
}

const refused = ({ id, status }: Withdrawal.Withdrawal, untilMillis: number | null = null) =>
  Result.fail(new WithdrawalNotLost({ id, status, untilMillis }))

/**
 * Returns the payment of a lost withdrawal. The node refuses to pay an expired invoice, so it sent the payment
 * before the invoice expired, even if it sent it again. A payment to an offer was sent before the node lost it. A payment
 * whose result is lost is no longer in any channel.
 */
const lost = ({ withdrawal, job, payment, result }: Found): Result.Result<Sent, WithdrawalNotLost> => {
  const { id, status, paymentHash, paymentRequest, dispatchedAtMillis } = withdrawal
  if (status !== "pending" || !isLost(job)) return refused(withdrawal)
  if (payment?._tag === "pending" && result !== undefined)
    return result === "lost"
      ? Result.succeed({ paymentHash, claimableUntilMillis: 0 })
      : Result.fail(new WithdrawalNotLost({ id, status, untilMillis: null, result }))
  if (payment?._tag !== "notFound") return refused(withdrawal)
  if (paymentRequest === null || dispatchedAtMillis === null) return refused(withdrawal)
  const lastMillis =
    paymentHash === null
      ? (payment.lostBeforeMillis ?? 0)
      : Bolt11.expiresAtSeconds(Result.getOrThrow(Bolt11.decode(paymentRequest))) * 1000
  return Result.succeed({
    paymentHash,
    claimableUntilMillis: Math.max(dispatchedAtMillis, lastMillis) + claimableMillis
  })
}

/**
 * Settles a lost withdrawal whose preimage proves that the payee was paid. If an offer was paid, its operator
 * must have compared the preimage with the payee's invoice.
 */
export const paid = (
  found: Found,
  { preimage, networkFee }: Evidence,
  atMillis: number
): Result.Result<Withdrawal.WithdrawalSettled, WithdrawalNotLost | Invalid> => {
  const { withdrawal } = found
  return Result.flatMap(
    lost(found),
    ({ paymentHash }): Result.Result<Withdrawal.WithdrawalSettled, Invalid> => {
      if (paymentHash !== null && !Preimage.proves(preimage, paymentHash))
        return Result.fail(
          new Invalid({ path: "preimage", message: "must be the preimage of the withdrawal's payment hash" })
        )
      if (networkFee > withdrawal.networkAllowance)
        return Result.fail(
          new Invalid({
            path: "fee_sats",
            message: "must not exceed the routing fee that the withdrawal holds"
          })
        )
      return Result.succeed(
        Withdrawal.settled(
          withdrawal,
          {
            preimage,
            ...(paymentHash === null && { reportedHash: Preimage.hashOf(preimage) }),
            chainTxId: null,
            networkFee,
            paymentIndex: null
          },
          undefined,
          atMillis
        )
      )
    }
  )
}

/** Fails a lost withdrawal that its payee can no longer claim. */
export const unpaid = (
  found: Found,
  atMillis: number
): Result.Result<Withdrawal.WithdrawalFailed, WithdrawalNotLost> =>
  Result.flatMap(lost(found), ({ claimableUntilMillis }) =>
    atMillis < claimableUntilMillis
      ? refused(found.withdrawal, claimableUntilMillis)
      : Result.succeed(Withdrawal.failed(found.withdrawal, Withdrawal.releasedFailure, undefined, atMillis))
  )
