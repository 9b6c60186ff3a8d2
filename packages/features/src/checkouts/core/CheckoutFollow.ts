import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option } from "effect"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, type Task } from "@satrail/core/ledger/Tasks"
import { InvoiceNotPayable } from "@satrail/core/receiving/Invoice"
import * as InvoiceLookup from "@satrail/core/receiving/InvoiceLookup"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Checkout from "./Checkout.ts"
import * as CheckoutAsking from "./CheckoutAsking.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import { CheckoutReads } from "./CheckoutReads.ts"

/** Updates one checkout as payments arrive and time passes. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiving = yield* ReceivingReads
  const reads = yield* CheckoutReads
  const issueRest = yield* CheckoutAsking.make
  const { close } = yield* CheckoutCancel.make
  const { lookUp } = yield* InvoiceLookup.make

  /**
   * Cancels the checkout's invoice unless it is paid. Fails while an internal payment is in progress, which ends soon
   * and may still fail.
   */
  const closeUnpaid = (checkout: Checkout.Checkout) =>
    Effect.catchTag(close(checkout), "InvoiceNotPayable", (refused) =>
      refused.status === "settled" ? Effect.void : Effect.fail(refused)
    )

  /**
   * Returns the payments toward a checkout. Looks up its invoice at the node before the checkout expires. The node
   * accepts no payment after the deadline, so one that is not credited yet, such as after an outage, is not late.
   * Fails while such a payment is in flight.
   */
  const arrivedFor = Effect.fnUntraced(function* (checkout: Checkout.Checkout, atMillis: number) {
    const { companyId, invoiceId, status } = checkout
    const arrived = yield* reads.arrivedFor(checkout)
    if (status === "expired" || Checkout.standing(checkout, arrived, atMillis) !== "expired") return arrived
    // An invoice for the rest that was issued shortly before the deadline is valid for longer.
    yield* closeUnpaid(checkout)
    const invoice = Option.getOrUndefined(yield* receiving.invoice(companyId, invoiceId))
    if ((invoice?.status === "pending" || invoice?.status === "canceling") && (yield* lookUp(invoice)))
      return yield* new InvoiceNotPayable({ invoiceId, status: "accepted" })
    return yield* reads.arrivedFor(checkout) // a payment may have been credited since they were read
  })

  /**
   * Issues another invoice for the remaining amount. Cancels the previous one first, because it could still
   * be paid.
   */
  const askAgain = Effect.fnUntraced(function* (
    checkout: Checkout.Checkout,
    sent: Msat.Msat,
    atMillis: number
  ) {
    yield* closeUnpaid(checkout)
    return yield* issueRest(checkout, sent, atMillis)
  })

  /** Cancels the invoice of a checkout that is covered. Returns whether it can still be paid, because it is being paid. */
  const closeCovered = (checkout: Checkout.Checkout) =>
    close(checkout).pipe(
      Effect.as(false),
      Effect.catchTag("InvoiceNotPayable", ({ status }) => Effect.succeed(status === "accepted"))
    )

  /** Returns whether the checkout's invoice was canceled, although the checkout still asks for money. */
  const isClosed = Effect.fnUntraced(function* ({ companyId, invoiceId }: Checkout.Checkout) {
    const invoice = Option.getOrUndefined(yield* receiving.invoice(companyId, invoiceId))
    return invoice?.status === "canceling" || invoice?.status === "canceled"
  })

  /**
   * Updates the stored status, payments and invoice of a checkout. Its invoice asks for what was neither credited nor is
   * pending, and is canceled once that covers the checkout. If `isDone` is true, the job is completed once the invoice
   * asks for the rest.
   */
  const follow = Effect.fnUntraced(function* (checkout: Checkout.Checkout, task: Task, isDone: boolean) {
    const atMillis = yield* Clock.currentTimeMillis
    const arrived = yield* arrivedFor(checkout, atMillis)
    const { received } = arrived
    const status = Checkout.standing(checkout, arrived, atMillis)
    const isOpen = Checkout.isOpen(status)
    const isCovered = Checkout.isCovered(checkout, arrived)
    // After a replacement or a reorganization, less may be pending or credited than before.
    const isOther = isOpen && Checkout.sent(arrived) !== checkout.deducted
    const isAsked = isOpen && !isCovered && (isOther || (yield* isClosed(checkout)))
    // A payment in flight is still credited.
    const isNewlyCovered = isCovered && (isOther || (status === "paid" && checkout.status !== "paid"))
    const isPayable = isNewlyCovered && (yield* closeCovered(checkout))
    const asking = isAsked ? yield* askAgain(checkout, Checkout.sent(arrived), atMillis) : undefined
    // The payment may have been undone while the invoice was issued. It is checked once more before its job is completed.
    const isChecked = isDone && asking === undefined
    const change = Checkout.next(checkout, { status, arrived, asking, isPayable }, atMillis, {
      fence: fence(task),
      isDone: isChecked
    })
    const isSame = change._tag === "CheckoutCounted" && received === checkout.received && !isOther && !isAsked
    // A payment may stay pending for days, and each change counts toward `maxChanges`.
    if (isSame && !isChecked) return
    yield* Effect.tapError(
      journal.commit<Checkout.Next>(change),
      () => (asking === undefined ? Effect.void : Effect.ignore(close({ ...checkout, ...asking }))) // nobody has seen this invoice
    )
  })

  return { follow }
})
