import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect } from "effect"
import { Stops } from "../accounts/Stops.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import type * as Rated from "../base/Rated.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { Journal } from "../ledger/Journal.ts"
import { Channels } from "../nodes/Channels.ts"
import { type Ask, type Description, type Issued, LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"
import { holdInvoices } from "./LookupSchedule.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import type * as Purpose from "./Purpose.ts"

/**
 * An invoice to be issued. The node puts either the text of `description` or only its hash into the invoice.
 */
export interface Draft extends Pick<
  Invoice.Invoice,
  | "companyId"
  | "amount"
  | "minAmount"
  | "maxAmount"
  | "memo"
  | "metadata"
  | "lightningAddressId"
  | keyof Purpose.Purpose
  | "apiKeyId"
  | "callback"
  | keyof Rated.Rated
> {
  readonly description: Description
  readonly expirySeconds: number
  readonly request?: Answer.Request<Invoice.Invoice> | undefined
}

/**
 * A hold invoice. `paymentHash` is the hash of a preimage that the company keeps, or null if the node
 * generates the preimage.
 */
export interface HoldRequest {
  readonly paymentHash: PaymentHash.PaymentHash | null
}

/** Issues invoices at the node and records them. Expects drafts that have been validated and priced. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiver = yield* LightningReceiver
  const records = yield* ReceivingReads
  const entropy = yield* Entropy
  const stops = yield* Stops
  const channels = yield* Channels

  /** Issues a draft at the node by calling `ask`. */
  const issuedBy = Effect.fnUntraced(function* <E>(
    { description, expirySeconds, request, ...asked }: Draft,
    hold: Invoice.Invoice["hold"],
    ask: (ask: Ask) => Effect.Effect<Issued, E>
  ) {
    yield* stops.check("receiving")
    const createdAtMillis = yield* Clock.currentTimeMillis
    const id = Id.fromMillis(createdAtMillis, entropy)
    const issued = yield* ask({ id, amount: asked.amount, description, expirySeconds })
    const invoice: Invoice.Invoice = {
      id,
      nodeId: receiver.nodeId,
      ...asked,
      ...issued,
      ...Invoice.unpaid,
      hold,
      createdAtMillis,
      expiresAtMillis: createdAtMillis + expirySeconds * 1000
    }
    const once = Answer.once(asked.companyId, request, invoice, createdAtMillis + Answer.keptMillis)
    const outcome = Answers.outcome(yield* journal.commit(Invoice.created(invoice, once)), invoice)
    if (invoice.amount !== null) yield* channels.issued(invoice.amount)
    return outcome
  })

  const issue = (draft: Draft) => issuedBy(draft, null, receiver.createInvoice)

  const issueHold = Effect.fnUntraced(function* (draft: Draft, { paymentHash }: HoldRequest) {
    const { holding } = receiver
    if (holding === undefined)
      return yield* new Invalid({
        path: "hold",
        message: "must be false, because this service's node cannot hold payments"
      })
    // Concurrent requests may each pass this check, so a company can exceed the limit by the number of requests
    // processed at the same time.
    if ((yield* records.openHolds(draft.companyId, holdInvoices.mostOpen)) >= holdInvoices.mostOpen)
      return yield* new Invoice.TooManyHeld({ maximum: holdInvoices.mostOpen })
    return yield* issuedBy(draft, paymentHash === null ? "node" : "company", (ask) =>
      holding.createInvoice({ ...ask, ...(paymentHash !== null && { paymentHash }) })
    ).pipe(
      Effect.catchTag("PaymentHashTaken", () =>
        Effect.fail(
          new Invalid({
            path: "payment_hash",
            message: "must be new: the node already has an invoice with this payment hash"
          })
        )
      )
    )
  })

  return { issue, issueHold }
})
