import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Result } from "effect"
import * as Amount from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Asked } from "@satrail/core/nodes/Prices"
import { type AskedAny, Invoices } from "@satrail/core/receiving/Invoices"
import * as Checkout from "./Checkout.ts"
import * as CheckoutAsking from "./CheckoutAsking.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as Rated from "@satrail/core/base/Rated"

// Changes that a payer can make on the page, if the seller allows them.

/** Returns why a string is not an email address, or undefined if it is. Does not check that the address exists. */
export const emailIssue = (text: string): string | undefined =>
  Metadata.textIssue(text, Checkout.limits.emailCharacters) ??
  (/^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/i.test(text)
    ? undefined
    : "must be an email address, such as help@shop.example")

/** A payer's answer to the questions before the payment. */
export interface Answered {
  readonly tipPercent: number
  /** Null to keep the address that they gave before. */
  readonly email: string | null
}

/** Returns the price of a checkout as it was requested. */
const priceOf = ({ fiatAmount, fiatCurrency, amount }: Checkout.Checkout): Asked | AskedAny => {
  if (amount === null) return { amount, minAmount: null, maxAmount: null }
  if (fiatAmount === null || fiatCurrency === null)
    return { amount: Decimal.make(Msat.toSats(amount)), currency: "sats" }
  return {
    amount: Result.getOrThrow(Decimal.parse(fiatAmount)),
    currency: Result.getOrThrow(Amount.parseCurrency(fiatCurrency))
  }
}

/** Renews checkouts and stores payers' answers. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const invoices = yield* Invoices
  const issueRest = yield* CheckoutAsking.make
  const { close } = yield* CheckoutCancel.make
  /** Public ids of checkouts that payers are changing. */
  const changing = new Set<string>()

  /** Cancels an invoice, unless it is paid or being paid: the payment still counts. */
  const closeUnpaid = (invoice: Parameters<typeof close>[0]) =>
    Effect.catchTag(close(invoice), "InvoiceNotPayable", () => Effect.void)

  /**
   * Commits a change that shows this invoice. If another process was faster, nobody has seen the invoice, so
   * it is canceled.
   */
  const commit = (
    change: Checkout.CheckoutRenewed | Checkout.CheckoutAnswered,
    invoiceId: string | undefined
  ) =>
    Effect.tapError(journal.commit(change), ({ _tag }) =>
      _tag === "CheckoutNotOpen" && invoiceId !== undefined
        ? closeUnpaid({ companyId: change.companyId, invoiceId })
        : Effect.void
    )

  return {
    /**
     * Makes a change unless another one is in progress in this process. A change is finished even if the payer
     * disconnects. Otherwise, each request could leave an open invoice that no page shows.
     */
    alone: <E, R>(publicId: string, change: Effect.Effect<void, E, R>) =>
      Effect.suspend((): Effect.Effect<void, E | Checkout.CheckoutNotOpen, R> => {
        if (changing.has(publicId))
          return Effect.fail(new Checkout.CheckoutNotOpen({ id: publicId, status: "being changed" }))
        changing.add(publicId)
        const done = Effect.sync(() => changing.delete(publicId))
        return Effect.uninterruptible(Effect.ensuring(change, done))
      }),
    renew: Effect.fnUntraced(function* (checkout: Checkout.Shown) {
      const {
        id,
        companyId,
        status,
        description,
        metadata,
        splits,
        createdAtMillis,
        quotedAtMillis,
        expiresAtMillis
      } = checkout
      const nowMillis = yield* Clock.currentTimeMillis
      if (!Checkout.isRenewable(checkout, nowMillis))
        return yield* new Checkout.CheckoutNotOpen({ id, status })
      const expirySeconds = Math.round((expiresAtMillis - (quotedAtMillis ?? createdAtMillis)) / 1000)
      const invoice = yield* invoices
        .create({
          ...priceOf(checkout),
          companyId,
          description,
          metadata,
          expirySeconds,
          checkoutId: id,
          splits
        })
        .pipe(Effect.flatMap(Answer.made), Effect.catchTag("TooManyHeld", Effect.die)) // the invoice is not a hold invoice
      const { amount, paymentRequest } = invoice
      const quote = {
        amount,
        ...Rated.of(invoice),
        paymentRequest,
        invoiceId: invoice.id,
        expiresAtMillis: invoice.expiresAtMillis
      }
      yield* commit(Checkout.renewed(checkout, quote, invoice.createdAtMillis), invoice.id)
    }),
    answer: ({ tipPercent, email }: Answered) =>
      Effect.fnUntraced(function* (checkout: Checkout.Shown) {
        const { id, status, options } = checkout
        if (!Checkout.isAnswerable(checkout)) return yield* new Checkout.CheckoutNotOpen({ id, status })
        if (!(options.includes("tip") ? Checkout.tips : [0]).includes(tipPercent))
          return yield* new Invalid({ path: "tip", message: `must be one of ${Checkout.tips.join(", ")}` })
        const message =
          email === null ? undefined : options.includes("email") ? emailIssue(email) : "must be omitted"
        if (message !== undefined) return yield* new Invalid({ path: "email", message })
        const nowMillis = yield* Clock.currentTimeMillis
        const tipped = { ...checkout, tipPercent }
        const asking =
          Checkout.total(tipped) === Checkout.total(checkout)
            ? undefined
            : yield* issueRest(tipped, checkout.received, nowMillis)
        const change = Checkout.answered(
          checkout,
          { ...asking, tipPercent, payerEmail: email ?? checkout.payerEmail },
          nowMillis
        )
        yield* commit(change, asking?.invoiceId)
        // A payment of the previous invoice still covers the price, so that invoice may stay open if it cannot
        // be canceled. It expires with the checkout.
        if (asking !== undefined) yield* closeUnpaid(checkout)
      })
  }
})
