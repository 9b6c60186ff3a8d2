import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option, Result, Schema } from "effect"
import type { CompanyId } from "../../base/CompanyId.ts"
import type * as Answer from "../../ledger/Answer.ts"
import { Tail } from "../../events/Tail.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import { Withdrawals } from "../../sending/Withdrawals.ts"
import { type Call, paramsOf, refuse, type WalletRefused } from "./WalletRefused.ts"

/** How long an app waits for the end of a payment before it is told that it is pending: apps give up after a minute. */
export const payWaitMillis = 45_000

/** An amount in msat as JSON has it: a whole number. */
export const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const Params = Schema.Struct({
  invoice: Schema.String.check(Schema.isMaxLength(4096)),
  amount: Schema.optionalKey(Schema.NullOr(Amount))
})

/** What was answered to the first request with an event: the id of the withdrawal that it made. */
const requestOf = ({ event }: Call, invoice: string, amount: number | undefined): Answer.Request<Withdrawal.Withdrawal> => ({
  key: `nwc:${event.id}`,
  fingerprint: `pay_invoice ${amount ?? ""} ${invoice}`,
  render: ({ id }) => id
})

/** A payment that has not ended is never said to have failed: who is told so pays again. */
const pending = "The payment is pending, and not failed: look it up by its payment hash before paying in another way"
const unknown = "It is not known whether the payment was begun: send the same event again, or look it up by its payment hash"

const resultOf = (withdrawal: Withdrawal.Withdrawal) => {
  const { status, approval, failure, preimage } = withdrawal
  if (status === "pending")
    return Effect.fail(refuse("OTHER", approval === "waiting" ? `${pending}. It waits for another key's approval` : pending))
  if (status === "failed") {
    // Whose hash it is may have been paid by another request: that this one came to nothing does not say that nothing was paid.
    if (failure === "payment_hash_used") return Effect.fail(refuse("OTHER", "Another payment was made for this invoice: look it up"))
    return Effect.fail(refuse("PAYMENT_FAILED", `Nothing was paid: ${failure ?? "failed"}`))
  }
  if (preimage === null) return Effect.fail(refuse("OTHER", "The payment is settled, and has no preimage: look it up"))
  return Effect.succeed({ preimage, fees_paid: Number(Withdrawal.fee(withdrawal)) })
}

/** Pays invoices for apps: each event once, however often it comes, and by whichever process. */
export const make = Effect.gen(function* () {
  const withdrawals = yield* Withdrawals
  const sending = yield* SendingReads
  const tail = yield* Tail

  const read = (companyId: CompanyId, id: string) =>
    Effect.flatMap(sending.withdrawal(companyId, id), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(`a withdrawal that is not there: ${id}`)
    )

  /** As it stands once it has ended, or after so long. One that waits for an approval is not waited for. */
  const ended = Effect.fnUntraced(function* (companyId: CompanyId, id: string) {
    const wait = yield* tail.listen(companyId)
    const look = Effect.andThen(wait, read(companyId, id))
    const isOver = ({ status, approval }: Withdrawal.Withdrawal) => status !== "pending" || approval === "waiting"
    const end = yield* Effect.timeoutOption(Effect.repeat(look, { until: isOver }), payWaitMillis)
    return Option.isSome(end) ? end.value : yield* read(companyId, id)
  }, Effect.scoped)

  const confirm = Effect.fnUntraced(function* (call: Call, invoice: string, amount: number | undefined) {
    const { apiKey, plan, companyLimits, fees, feesRevision } = call.holder
    const outcome = yield* withdrawals.confirm({
      company: { id: apiKey.companyId, plan, limits: companyLimits, fees, feesRevision },
      apiKey,
      asked: undefined,
      destination: invoice,
      ...(amount !== undefined && { otherwise: Msat.make(BigInt(amount)) }),
      metadata: {},
      request: requestOf(call, invoice, amount)
    })
    return outcome._tag === "Made" ? outcome.value.id : outcome.answer
  })

  return {
    payInvoice: Effect.fnUntraced(function* (call: Call): Effect.fn.Return<unknown, WalletRefused> {
      const { invoice: text, amount: given } = yield* paramsOf(call, Params)
      const amount = given ?? undefined
      const invoice = text.trim().replace(/^lightning:/i, "")
      const bolt11 = Bolt11.decode(invoice)
      // What else money can be sent to is not an invoice: a name or an address that an app was given is not what its user saw.
      if (Result.isFailure(bolt11)) return yield* refuse("OTHER", `The invoice is not one of BOLT 11: ${bolt11.failure.message}`)
      const own = bolt11.success.amount
      if (own !== undefined && amount !== undefined && BigInt(amount) !== own)
        return yield* refuse("OTHER", "The amount is not the invoice's own: leave it out")
      if (own === undefined && (amount === undefined || amount === 0))
        return yield* refuse("OTHER", "The invoice has no amount: give one in millisatoshis")
      const { companyId } = call.holder.apiKey
      const id = yield* confirm(call, invoice, own === undefined ? amount : undefined).pipe(
        Effect.catchTags({
          LimitExceeded: ({ limit, of }) => refuse("QUOTA_EXCEEDED", `More than ${limit} of the ${of} allows`),
          InsufficientBalance: () => refuse("INSUFFICIENT_BALANCE", "The balance is less than amount and fees"),
          CompanyFrozen: () => refuse("RESTRICTED", "The company is frozen: no money leaves it"),
          Paused: () => refuse("RESTRICTED", "Sending is paused: try again later"),
          StoreUnavailable: () => refuse("INTERNAL", unknown),
          IdempotencyMismatch: () => refuse("OTHER", "This event was another request before"),
          Conflict: () => refuse("INTERNAL", unknown),
          FeeChanged: () => refuse("INTERNAL", "The fee changed: try again"),
          ChainUnavailable: () => refuse("INTERNAL", "The chain cannot be asked: try again later"),
          RateUnavailable: () => refuse("INTERNAL", "There is no exchange rate: try again later"),
          RecipientUnreachable: () => refuse("OTHER", "The recipient cannot be reached"),
          RecipientRefused: ({ reason }) => refuse("OTHER", reason),
          DestinationRefused: ({ message }) => refuse("OTHER", message),
          DestinationInvalid: ({ message }) => refuse("OTHER", message),
          AmountInvalid: ({ message }) => refuse("OTHER", message),
          Invalid: ({ message }) => refuse("OTHER", message)
        })
      )
      const withdrawal = yield* Effect.catchTag(ended(companyId, id), "StoreUnavailable", () => refuse("INTERNAL", pending))
      return yield* resultOf(withdrawal)
    })
  }
})
