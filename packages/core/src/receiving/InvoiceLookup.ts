import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { type InvoiceState, LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as NodeCancellation from "./NodeCancellation.ts"
import * as Credits from "./Credits.ts"
import * as Invoice from "./Invoice.ts"
import * as LookupSchedule from "./LookupSchedule.ts"

/** Looks up one open invoice at the node, and applies the state that the node reports. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiver = yield* LightningReceiver
  const options = yield* LookupSchedule.Options
  const { credit } = yield* Credits.make
  const { cancelAtNode } = yield* NodeCancellation.make

  /**
   * Cancels the invoice first in our records and then at the node, unless its company has settled it in the
   * meantime.
   */
  const sendBack = (invoice: Invoice.Invoice, atMillis: number) =>
    Effect.andThen(journal.commit(Invoice.canceled(invoice, atMillis)), cancelAtNode(invoice)).pipe(
      Effect.catchTag("InvoiceNotPayable", () => Effect.void)
    )

  /** Returns whether a payment that was held must have timed out. */
  const isPastHold = ({ heldUntilMillis }: Invoice.Invoice, atMillis: number) =>
    heldUntilMillis !== null && atMillis > heldUntilMillis + options.expiredGraceMillis

  /** Applies the node's state of a hold invoice when a payment is newly held or no longer held. */
  const follow = Effect.fnUntraced(function* (
    invoice: Invoice.Invoice,
    state: InvoiceState,
    atMillis: number
  ) {
    const wasHeld = invoice.status === "held" || invoice.status === "settling"
    switch (state._tag) {
      case "accepted": {
        if (state.held === undefined) return
        const { received, blocksLeft } = state.held
        if (blocksLeft <= LookupSchedule.holdInvoices.marginBlocks) return yield* sendBack(invoice, atMillis)
        if (invoice.status !== "pending") return
        const payment = {
          held: received,
          heldUntilMillis: LookupSchedule.heldUntilMillis(blocksLeft, atMillis)
        }
        return yield* Effect.catchTag(
          journal.commit(Invoice.held(invoice, payment, atMillis)),
          "InvoiceNotPayable",
          () => Effect.void
        )
      }
      // The node no longer holds the payment. The company was notified of that payment only, so cancel the
      // invoice.
      case "open":
        return wasHeld ? yield* sendBack(invoice, atMillis) : undefined
      case "canceled":
        if (wasHeld) return yield* journal.commit(Invoice.returned(invoice, atMillis))
        if (invoice.status === "pending" && atMillis >= invoice.expiresAtMillis)
          yield* journal.commit(Invoice.expired(invoice, atMillis))
        return
      case "unknown":
        // The node has lost the invoice. After the held payment has timed out, the node has nothing left to
        // return.
        if (wasHeld && isPastHold(invoice, atMillis))
          yield* journal.commit(Invoice.returned(invoice, atMillis))
        return
    }
  })

  return {
    /**
     * Applies the node's state of one open invoice. Changes nothing if the node still has a payment in flight
     * for it. Returns whether it has, until the grace period after the expiry has passed.
     */
    lookUp: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      // The response describes the invoice at or after this time. The response may arrive up to a day later,
      // and an invoice reported as open may have been paid since.
      const askedAtMillis = yield* Clock.currentTimeMillis
      const isCanceled = invoice.status === "canceling"
      // Canceling fails if the node has deleted the invoice. In that case, the result of the lookup below
      // decides, as for any other invoice.
      if (isCanceled && Option.contains(yield* Effect.option(cancelAtNode(invoice)), true)) return false
      if (invoice.status === "settling" && receiver.holding !== undefined)
        yield* Effect.option(receiver.holding.settle(invoice, invoice.preimage))
      const over = askedAtMillis > invoice.expiresAtMillis + options.expiredGraceMillis
      const isLast = over || isPastHold(invoice, askedAtMillis)
      const look = receiver.lookupInvoice(invoice.paymentHash)
      const first = yield* look
      // No lookup follows an expiry or a return, so the node must report twice that it does not have the invoice.
      const state = isLast && first._tag === "unknown" ? yield* look : first
      if (state._tag === "settled") {
        yield* Effect.catchTag(
          credit({ paymentHash: invoice.paymentHash, received: state.received, preimage: state.preimage }),
          "StaleFence",
          Effect.die // no fencing token is required: any process may credit it, and only the first one does
        )
        return false
      }
      if (invoice.hold !== null) yield* follow(invoice, state, askedAtMillis)
      if (!over || state._tag === "accepted") return !over && state._tag === "accepted"
      if (isCanceled) yield* journal.commit(Invoice.closed(invoice, askedAtMillis))
      // An invoice that a wallet requested and the node has lost or deleted stays open until `Settlements.forget`
      // deletes it.
      else if (
        state._tag !== "unknown" ||
        invoice.status === "claimed" ||
        invoice.lightningAddressId === null
      )
        yield* journal.commit(Invoice.expired(invoice, askedAtMillis))
      return false
    })
  }
})
