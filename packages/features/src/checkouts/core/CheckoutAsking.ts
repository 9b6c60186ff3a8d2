import type * as Msat from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as Checkout from "./Checkout.ts"
import * as Rated from "@satrail/core/base/Rated"

/** Minimum lifetime of an invoice for the remaining amount, in seconds. */
const leastSeconds = 60

/** Issues another invoice for what was not sent yet, at the checkout's rate. */
export const make = Effect.map(Invoices, (invoices) =>
  Effect.fnUntraced(function* (checkout: Checkout.Checkout, sent: Msat.Msat, atMillis: number) {
    const { companyId, description, metadata, splits } = checkout
    const asking = yield* invoices.issue({
      companyId,
      amount: Checkout.rest(checkout, sent),
      minAmount: null,
      maxAmount: null,
      memo: description,
      description: { _tag: "Text", text: description },
      expirySeconds: Math.max(leastSeconds, Math.ceil((checkout.expiresAtMillis - atMillis) / 1000)),
      metadata,
      lightningAddressId: null,
      apiKeyId: null,
      callback: null,
      ...Rated.of(checkout),
      checkoutId: checkout.id,
      splits
    })
    return asking._tag === "Made"
      ? { invoiceId: asking.value.id, paymentRequest: asking.value.paymentRequest }
      : undefined
  })
)
