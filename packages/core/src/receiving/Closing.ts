import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"

/** Has canceled invoices closed at the node. */
export const make = Effect.gen(function* () {
  const [journal, receiver] = [yield* Journal, yield* LightningReceiver]

  const isClosed = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    if (invoice.hold !== null) return receiver.holding !== undefined && (yield* receiver.holding.cancel(invoice)) === "canceled"
    if (receiver.lacks?.has("cancel") === true) return false
    return (yield* receiver.cancelInvoice(invoice.paymentHash))._tag === "canceled"
  })

  return {
    /** Whether the node takes no payment of it from here on, which is recorded. False where it cannot do that, or where a payment was first. */
    close: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      if (!(yield* isClosed(invoice))) return false
      yield* journal.commit(Invoice.closed(invoice, yield* Clock.currentTimeMillis))
      return true
    })
  }
})
