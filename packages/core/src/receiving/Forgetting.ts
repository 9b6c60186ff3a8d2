import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"

/** Ends unpaid invoices that wallets asked for. */
export const make = Effect.gen(function* () {
  const [journal, receiver] = [yield* Journal, yield* LightningReceiver]

  /** Deletes an invoice of which the node accepts no payment any more. One that was paid or claimed meanwhile stays. */
  const forget = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const forgotten = Invoice.forgotten(invoice, yield* Clock.currentTimeMillis)
    yield* Effect.catchTag(journal.commit(forgotten), "InvoiceNotPayable", () => Effect.void)
  })

  return {
    forget,
    /**
     * Cancels an invoice at the node, and deletes it once the node says that it is canceled. Until then it can be paid, and is credited. Returns the state
     * that the node reports; none where the node cannot cancel, is away, or does not know the invoice.
     */
    cancel: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      if (receiver.lacks?.has("cancel") === true) return Option.none()
      const state = yield* Effect.option(receiver.cancelInvoice(invoice.paymentHash))
      if (Option.isSome(state) && state.value._tag === "canceled") yield* forget(invoice)
      return state
    })
  }
})
