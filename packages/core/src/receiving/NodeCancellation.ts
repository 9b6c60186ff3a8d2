import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"

/** Cancels, at the node, invoices that were canceled in our records. */
export const make = Effect.gen(function* () {
  const [journal, receiver] = [yield* Journal, yield* LightningReceiver]

  const isClosed = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    if (invoice.hold !== null)
      return receiver.holding !== undefined && (yield* receiver.holding.cancel(invoice)) === "canceled"
    if (receiver.lacks?.has("cancel") === true) return false
    return (yield* receiver.cancelInvoice(invoice.paymentHash))._tag === "canceled"
  })

  return {
    /** Cancels the invoice at the node and records it. Returns false if the node cannot cancel, or received a payment first. */
    cancelAtNode: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      if (!(yield* isClosed(invoice))) return false
      yield* journal.commit(Invoice.closed(invoice, yield* Clock.currentTimeMillis))
      return true
    })
  }
})
