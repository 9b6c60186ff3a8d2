import { Clock, Effect, Option, Schema } from "effect"
import * as Decimal from "../base/Decimal.ts"
import * as Invoice from "../receiving/Invoice.ts"
import { Invoices } from "../receiving/Invoices.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { Amount } from "./WalletPayments.ts"
import { type Call, paramsOf, refuse } from "./WalletRefused.ts"
import * as WalletView from "./WalletView.ts"

const Params = Schema.Struct({
  amount: Schema.optionalKey(Schema.NullOr(Amount)),
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  description_hash: Schema.optionalKey(Schema.NullOr(Schema.String)),
  expiry: Schema.optionalKey(Schema.NullOr(Schema.Int))
})

/** Makes invoices for apps: one for each event, however often it comes. */
export const make = Effect.gen(function* () {
  const invoices = yield* Invoices
  const receiving = yield* ReceivingReads

  const makeInvoice = Effect.fnUntraced(function* (call: Call) {
    const { amount, description, description_hash: hash, expiry } = yield* paramsOf(call, Params)
    if (hash !== undefined && hash !== null) return yield* refuse("NOT_IMPLEMENTED", "Give a description: its hash alone is not taken")
    const { companyId } = call.holder.apiKey
    const price =
      amount === undefined || amount === null || amount === 0
        ? { amount: null, minAmount: null, maxAmount: null }
        : { amount: Decimal.make(BigInt(amount), 3), currency: "sats" as const }
    const outcome = yield* invoices
      .create({
        companyId,
        ...price,
        description: description ?? "",
        expirySeconds: expiry ?? Invoice.expirySeconds.default,
        metadata: {},
        request: { key: `nwc:${call.event.id}`, fingerprint: "make_invoice", render: ({ id }) => id }
      })
      .pipe(
        Effect.catchTags({
          AmountInvalid: ({ message }) => refuse("OTHER", message),
          Invalid: ({ path, message }) => refuse("OTHER", `${path}: ${message}`),
          TooManyHeld: () => refuse("OTHER", "There are too many open hold invoices"),
          Paused: () => refuse("RESTRICTED", "Receiving is paused: try again later"),
          RateUnavailable: () => refuse("INTERNAL", "There is no exchange rate: try again later"),
          NodeUnavailable: () => refuse("INTERNAL", "The node is away: try again later"),
          Conflict: () => refuse("INTERNAL", "The invoice was made before, and otherwise"),
          IdempotencyMismatch: () => refuse("OTHER", "This event was another request before")
        })
      )
    const nowMillis = yield* Clock.currentTimeMillis
    if (outcome._tag === "Made") return WalletView.incoming(outcome.value, nowMillis)
    const before = yield* receiving.invoice(companyId, outcome.answer)
    return Option.isSome(before) ? WalletView.incoming(before.value, nowMillis) : yield* refuse("INTERNAL", "The invoice is gone")
  })

  return { makeInvoice }
})
