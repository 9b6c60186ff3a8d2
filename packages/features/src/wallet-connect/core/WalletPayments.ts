import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Option, Result, Schedule, Schema } from "effect"
import { sentence } from "@satrail/core/base/Invalid"
import type * as MetadataRules from "@satrail/core/base/Metadata"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import type * as Answer from "@satrail/core/ledger/Answer"
import { Tail } from "@satrail/core/events/Tail"
import * as Destination from "@satrail/core/sending/Destination"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import {
  alreadyUsed,
  type Call,
  keyOf,
  Metadata,
  metadataOf,
  paramsOf,
  refuse,
  unknown,
  type WalletRefused
} from "./WalletRefused.ts"

/**
 * Time for which a request waits for a payment to become final. After that, the app receives a pending
 * response. Apps time out after a minute.
 */
export const payWaitMillis = 45_000

/**
 * Minimum pauses between two reads of a payment: doubling, up to a second. Otherwise, each event of a company would
 * make all of its waiting requests read.
 */
const pauses = Schedule.min([Schedule.exponential("20 millis"), Schedule.spaced("1 second")])

/**
 * Runs the part of a request that only waits for a payment. The listener to a relay lets the request give up its
 * place meanwhile. Otherwise, slow payments of a few apps would keep all other apps waiting.
 */
export class Waiting extends Context.Reference<
  <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
>("@satrail/features/wallet-connect/core/WalletPayments/Waiting", { defaultValue: () => (wait) => wait }) {}

/** An amount in msat, as a whole JSON number. */
export const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const Params = Schema.Struct({
  invoice: Schema.String.check(Schema.isMaxLength(4096)),
  amount: Schema.optionalKey(Amount),
  metadata: Metadata
})

/**
 * Uses the event as the idempotency key, so that a repeated event returns the same withdrawal. Stores only the
 * withdrawal's id.
 */
const requestOf = (
  { event }: Call,
  invoice: string,
  amount: number | undefined
): Answer.Request<Withdrawal.Withdrawal> => ({
  key: keyOf(event),
  fingerprint: `pay_invoice ${amount ?? ""} ${invoice}`,
  render: ({ id }) => id
})

/** Never report a pending payment as failed, because the user would then pay again. */
const pending =
  "The payment is pending, not failed. Look it up by its payment hash before you pay another way."

const resultOf = (withdrawal: Withdrawal.Withdrawal) => {
  const { status, failure, preimage } = withdrawal
  if (status === "pending") {
    const isWaiting = Withdrawal.standing(withdrawal) !== "pending"
    return Effect.fail(refuse("OTHER", isWaiting ? `${pending} It awaits approval by another key.` : pending))
  }
  if (status === "failed") {
    // Another request may have paid the same hash, so this failure does not mean that nothing was paid.
    if (failure === "payment_hash_used")
      return Effect.fail(refuse("OTHER", "Another payment exists for this invoice. Look it up."))
    return Effect.fail(refuse("PAYMENT_FAILED", `Nothing was paid: ${failure ?? "failed"}.`))
  }
  if (preimage === null)
    return Effect.fail(refuse("OTHER", "The payment settled without a preimage. Look it up."))
  return Effect.succeed({ preimage, fees_paid: Number(Withdrawal.fee(withdrawal)) })
}

/**
 * Pays invoices for apps. Each event pays only once, even if it arrives several times or in several processes.
 */
export const make = Effect.gen(function* () {
  const withdrawals = yield* Withdrawals
  const sending = yield* SendingReads
  const tail = yield* Tail

  const read = (companyId: CompanyId, id: string) =>
    Effect.flatMap(sending.withdrawal(companyId, id), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(`withdrawal not found: ${id}`)
    )

  /**
   * Returns the withdrawal once it is final, or after the maximum wait. Returns immediately if it waits for
   * approval.
   */
  const ended = Effect.fnUntraced(function* (companyId: CompanyId, id: string) {
    const wait = yield* tail.listen(companyId)
    const look = Effect.andThen(wait, read(companyId, id))
    const isOver = (row: Withdrawal.Withdrawal) => Withdrawal.standing(row) !== "pending"
    const end = yield* (yield* Waiting)(
      Effect.timeoutOption(Effect.repeat(look, { until: isOver, schedule: pauses }), payWaitMillis)
    )
    return Option.isSome(end) ? end.value : yield* read(companyId, id)
  }, Effect.scoped)

  const confirm = Effect.fnUntraced(function* (
    call: Call,
    invoice: string,
    amount: number | undefined,
    metadata: MetadataRules.Metadata
  ) {
    const { apiKey, plan, companyLimits, fees, feesRevision } = call.holder
    const outcome = yield* withdrawals.confirm({
      company: { id: apiKey.companyId, plan, limits: companyLimits, fees, feesRevision },
      apiKey,
      asked: undefined,
      destination: invoice,
      ...(amount !== undefined && { otherwise: Msat.make(BigInt(amount)) }),
      metadata,
      request: requestOf(call, invoice, amount)
    })
    return outcome._tag === "Made" ? outcome.value.id : outcome.answer
  })

  return {
    payInvoice: Effect.fnUntraced(function* (call: Call): Effect.fn.Return<unknown, WalletRefused> {
      const { invoice: text, amount, metadata } = yield* paramsOf(call, Params)
      const bolt11 = Destination.invoiceIn(text)
      // Accept only invoices. A name or address given to an app may not be the one its user saw.
      if (Result.isFailure(bolt11))
        return yield* refuse("OTHER", `This is not a valid BOLT 11 invoice: ${bolt11.failure.message}.`)
      const { amount: own, paymentRequest: invoice } = bolt11.success
      if (own !== undefined && amount !== undefined && BigInt(amount) !== own)
        return yield* refuse("OTHER", "The amount differs from the invoice's. Omit it.")
      if (own === undefined && amount === undefined)
        return yield* refuse("OTHER", "The invoice specifies no amount. Set amount in millisatoshis.")
      const { companyId } = call.holder.apiKey
      const id = yield* confirm(
        call,
        invoice,
        own === undefined ? amount : undefined,
        metadataOf(metadata)
      ).pipe(
        Effect.catchTags({
          LimitExceeded: ({ limit, of }) =>
            refuse("QUOTA_EXCEEDED", `This would exceed the ${of}'s limit "${limit}".`),
          InsufficientBalance: () =>
            refuse("INSUFFICIENT_BALANCE", "The balance does not cover the amount and fees."),
          Unauthorized: ({ reason }) =>
            refuse("UNAUTHORIZED", `The API key of this connection is ${reason}.`),
          CompanyFrozen: () => refuse("RESTRICTED", "The company is frozen and cannot send."),
          Paused: () => refuse("RESTRICTED", "Sending is paused. Try again later."),
          StoreUnavailable: () => refuse("INTERNAL", unknown),
          IdempotencyMismatch: () => refuse("OTHER", alreadyUsed),
          Conflict: () => refuse("INTERNAL", unknown),
          FeeChanged: () => refuse("INTERNAL", "The fee changed. Try again."),
          ChainUnavailable: () => refuse("INTERNAL", "The bitcoin node cannot be reached. Try again later."),
          RateUnavailable: () => refuse("INTERNAL", "No exchange rate is available. Try again later."),
          RecipientUnreachable: () => refuse("OTHER", "The payee cannot be reached."),
          RecipientRefused: ({ reason }) => refuse("OTHER", reason),
          DestinationRefused: ({ message }) => refuse("OTHER", message),
          DestinationInvalid: ({ message }) => refuse("OTHER", message),
          AmountInvalid: ({ message }) => refuse("OTHER", message),
          Invalid: ({ path, message }) => refuse("OTHER", sentence(path, message))
        })
      )
      const withdrawal = yield* Effect.catchTag(ended(companyId, id), "StoreUnavailable", () =>
        refuse("INTERNAL", pending)
      )
      return yield* resultOf(withdrawal)
    })
  }
})
