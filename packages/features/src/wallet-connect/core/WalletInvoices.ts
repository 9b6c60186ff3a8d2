import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Effect, Option, Schema } from "effect"
import { sentence } from "@satrail/core/base/Invalid"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import type { HoldRequest } from "@satrail/core/receiving/InvoiceIssuer"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { Amount } from "./WalletPayments.ts"
import { alreadyUsed, type Call, keyOf, Metadata, metadataOf, paramsOf, refuse } from "./WalletRefused.ts"
import * as WalletView from "./WalletView.ts"

const Hash = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{64}$/))

const asked = {
  amount: Schema.optionalKey(Amount),
  description: Schema.optionalKey(Schema.String),
  description_hash: Schema.optionalKey(Schema.String),
  expiry: Schema.optionalKey(Schema.Int),
  metadata: Metadata
}
const Params = Schema.Struct(asked)
const HoldParams = Schema.Struct({
  ...asked,
  payment_hash: Hash,
  min_cltv_expiry_delta: Schema.optionalKey(Schema.Int)
})

/**
 * Creates, settles and cancels invoices for apps. Each event takes effect only once, even if it arrives several
 * times.
 */
export const make = Effect.gen(function* () {
  const invoices = yield* Invoices
  const receiving = yield* ReceivingReads

  const create = Effect.fnUntraced(function* (
    call: Call,
    { amount, description, description_hash: hash, expiry, metadata }: typeof Params.Type,
    hold?: HoldRequest
  ) {
    if (hash !== undefined)
      return yield* refuse("NOT_IMPLEMENTED", "description_hash is not supported. Send description instead.")
    const { id: apiKeyId, companyId } = call.holder.apiKey
    const price =
      amount === undefined
        ? { amount: null, minAmount: null, maxAmount: null }
        : { amount: Decimal.make(BigInt(amount), 3), currency: "sats" as const }
    const outcome = yield* invoices
      .create({
        companyId,
        apiKeyId,
        ...price,
        description: description ?? "",
        expirySeconds: expiry ?? Invoice.expirySeconds.default,
        metadata: metadataOf(metadata),
        hold,
        request: { key: keyOf(call.event), fingerprint: "make_invoice", render: ({ id }) => id }
      })
      .pipe(
        Effect.catchTags({
          AmountInvalid: ({ message }) => refuse("OTHER", message),
          Invalid: ({ path, message }) => refuse("OTHER", `${sentence(path, message)}.`),
          TooManyHeld: ({ maximum }) =>
            refuse(
              "OTHER",
              `A company can have at most ${maximum} open hold invoices. Settle or cancel one first.`
            ),
          Paused: () => refuse("RESTRICTED", "Receiving is paused. Try again later."),
          RateUnavailable: () => refuse("INTERNAL", "No exchange rate is available. Try again later."),
          NodeUnavailable: () => refuse("INTERNAL", "The Lightning node is not responding. Try again later."),
          Conflict: () => refuse("INTERNAL", "A different invoice was already created for this request."),
          IdempotencyMismatch: () => refuse("OTHER", alreadyUsed)
        })
      )
    const nowMillis = yield* Clock.currentTimeMillis
    if (outcome._tag === "Made") return WalletView.incoming(outcome.value, apiKeyId, nowMillis)
    const before = yield* receiving.invoice(companyId, outcome.answer)
    return Option.isSome(before)
      ? WalletView.incoming(before.value, apiKeyId, nowMillis)
      : yield* refuse("INTERNAL", "The invoice for this request no longer exists.")
  })

  const ofHash = Effect.fnUntraced(function* ({ holder }: Call, paymentHash: PaymentHash.PaymentHash) {
    const found = yield* receiving.invoiceByHash(paymentHash)
    if (
      Option.isSome(found) &&
      found.value.companyId === holder.apiKey.companyId &&
      found.value.hold !== null
    )
      return found.value
    return yield* refuse("NOT_FOUND", "No hold invoice has this payment hash.")
  })

  return {
    makeInvoice: (call: Call) => Effect.flatMap(paramsOf(call, Params), (params) => create(call, params)),
    makeHoldInvoice: Effect.fnUntraced(function* (call: Call) {
      const {
        payment_hash: hash,
        min_cltv_expiry_delta: delta,
        ...params
      } = yield* paramsOf(call, HoldParams)
      if (delta !== undefined)
        return yield* refuse("NOT_IMPLEMENTED", "min_cltv_expiry_delta is not supported. Omit it.")
      return yield* create(call, params, { paymentHash: PaymentHash.make(hash.toLowerCase()) })
    }),
    /** Settles the held payment. Settling again changes nothing. */
    settleHoldInvoice: Effect.fnUntraced(function* (call: Call) {
      const preimage = Preimage.make(
        (yield* paramsOf(call, Schema.Struct({ preimage: Hash }))).preimage.toLowerCase()
      )
      const { id, companyId } = yield* ofHash(call, Preimage.hashOf(preimage))
      yield* invoices.settle(companyId, id, preimage).pipe(
        Effect.catchTags({
          Invalid: ({ path, message }) => refuse("OTHER", `${sentence(path, message)}.`),
          NotFound: () => refuse("NOT_FOUND", "No hold invoice has this payment hash."),
          InvoiceNotHeld: ({ status }) =>
            refuse("OTHER", `No payment is held for this invoice: it is ${status}.`)
        })
      )
      return {}
    }),
    /**
     * Returns the held payment to the payer, or cancels the unpaid invoice. Canceling again changes nothing.
     */
    cancelHoldInvoice: Effect.fnUntraced(function* (call: Call) {
      const { payment_hash: hash } = yield* paramsOf(call, Schema.Struct({ payment_hash: Hash }))
      const { id, companyId } = yield* ofHash(call, PaymentHash.make(hash.toLowerCase()))
      yield* invoices.cancel(companyId, id).pipe(
        Effect.catchTags({
          NotFound: () => refuse("NOT_FOUND", "No hold invoice has this payment hash."),
          InvoiceNotPayable: ({ status }) =>
            refuse("OTHER", `This invoice can no longer be canceled: it is ${status}.`)
        })
      )
      return {}
    })
  }
})
