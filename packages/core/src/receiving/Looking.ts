import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { type InvoiceState, LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Closing from "./Closing.ts"
import * as Credits from "./Credits.ts"
import * as Invoice from "./Invoice.ts"
import * as LookUps from "./LookUps.ts"

/** Does what the node says about one invoice that has not ended. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiver = yield* LightningReceiver
  const options = yield* LookUps.Options
  const { credit } = yield* Credits.make
  const { close } = yield* Closing.make

  /** Canceled before the node is told, unless its company has settled it meanwhile. */
  const sendBack = (invoice: Invoice.Invoice, atMillis: number) =>
    Effect.andThen(journal.commit(Invoice.canceled(invoice, atMillis)), close(invoice)).pipe(
      Effect.catchTag("InvoiceNotPayable", () => Effect.void)
    )

  /** A payment of a hold invoice is held, or is held no more. */
  const follow = Effect.fnUntraced(function* (invoice: Invoice.Invoice, state: InvoiceState, atMillis: number) {
    const wasHeld = invoice.status === "held" || invoice.status === "settling"
    switch (state._tag) {
      case "accepted": {
        if (state.held === undefined) return
        const { received, blocksLeft } = state.held
        if (blocksLeft <= LookUps.holds.marginBlocks) return yield* sendBack(invoice, atMillis)
        if (invoice.status !== "pending") return
        const payment = { held: received, heldUntilMillis: LookUps.heldUntilMillis(blocksLeft, atMillis) }
        return yield* Effect.catchTag(journal.commit(Invoice.held(invoice, payment, atMillis)), "InvoiceNotPayable", () => Effect.void)
      }
      // What was held is gone, and another payment is not what its company was told of.
      case "open":
        return wasHeld ? yield* sendBack(invoice, atMillis) : undefined
      case "canceled":
        if (wasHeld) return yield* journal.commit(Invoice.returned(invoice, atMillis))
        if (invoice.status === "pending" && atMillis >= invoice.expiresAtMillis) yield* journal.commit(Invoice.expired(invoice, atMillis))
        return
      case "unknown":
        // A node that lost it has no payment of it to end, once that has ended by itself.
        if (wasHeld && atMillis > (invoice.heldUntilMillis ?? 0) + options.expiredGraceMillis)
          yield* journal.commit(Invoice.returned(invoice, atMillis))
        return
    }
  })

  return {
    /** What the node says about one open invoice decides; a node that does not know it, or still holds a payment for it, decides nothing. */
    look: Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
      // The response is at least as new as this, and may arrive a day later: an invoice that was open then may have been paid since.
      const askedAtMillis = yield* Clock.currentTimeMillis
      const isCanceled = invoice.status === "canceling"
      // A node that has forgotten it refuses: what it says when it is asked decides then, as of any other.
      if (isCanceled && Option.contains(yield* Effect.option(close(invoice)), true)) return
      if (invoice.status === "settling" && receiver.holding !== undefined)
        yield* Effect.option(receiver.holding.settle(invoice, invoice.preimage))
      const state = yield* receiver.lookupInvoice(invoice.paymentHash)
      if (state._tag === "settled")
        return yield* Effect.catchTag(
          credit({ paymentHash: invoice.paymentHash, received: state.received, preimage: state.preimage }),
          "StaleFence",
          Effect.die // nothing is fenced here: it is credited once, by any process
        )
      if (invoice.hold !== null) yield* follow(invoice, state, askedAtMillis)
      const over = askedAtMillis > invoice.expiresAtMillis + options.expiredGraceMillis
      if (!over || state._tag === "accepted") return
      if (isCanceled) yield* journal.commit(Invoice.closed(invoice, askedAtMillis))
      else if (state._tag !== "unknown") yield* journal.commit(Invoice.expired(invoice, askedAtMillis))
    })
  }
})
