import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"

/** Has canceled invoices closed at the node. */
export const make = Effect.gen(function* () {
  const [journal, receiver] = [yield* Journal, yield* LightningReceiver]

  return {
    /** Whether the node takes no payment of it from here on, which is recorded. False where it cannot do that, or where a payment was first. */
    close: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      if (receiver.lacks?.has("cancel") === true) return false
      const { _tag } = yield* receiver.cancelInvoice(invoice.paymentHash)
      if (_tag !== "canceled") return false
      yield* journal.commit(Invoice.closed(invoice, yield* Clock.currentTimeMillis))
      return true
    })
  }
})
