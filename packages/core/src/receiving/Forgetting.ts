import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"

/** Cancels and deletes unpaid invoices requested by wallets. */
export const make = Effect.gen(function* () {
  const [journal, receiver] = [yield* Journal, yield* LightningReceiver]

  /**
   * Deletes an invoice for which the node no longer accepts payments. An invoice that was paid or claimed in
   * the meantime stays.
   */
  const forget = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const forgotten = Invoice.forgotten(invoice, yield* Clock.currentTimeMillis)
    yield* Effect.catchTag(journal.commit(forgotten), "InvoiceNotPayable", () => Effect.void)
  })

  return {
    forget,
    /**
     * Cancels an invoice at the node, and deletes it once the node reports it as canceled. Until then, the
     * invoice can be paid, and payments are credited. Returns the state reported by the node, or none if the
     * node cannot cancel, is unavailable or does not know the invoice.
     */
    cancel: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      if (receiver.lacks?.has("cancel") === true) return Option.none()
      const state = yield* Effect.option(receiver.cancelInvoice(invoice.paymentHash))
      if (Option.isSome(state) && state.value._tag === "canceled") yield* forget(invoice)
      return state
    })
  }
})
