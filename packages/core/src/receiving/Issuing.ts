import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect } from "effect"
import { Stops } from "../accounts/Stops.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { Journal } from "../ledger/Journal.ts"
import { Channels } from "../nodes/Channels.ts"
import { type Ask, type Description, type Issued, LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as Invoice from "./Invoice.ts"
import { holds } from "./LookUps.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** An invoice that is to be. Of `description` the node puts in what it is given: a text, or only its hash. */
export interface Draft extends Pick<
  Invoice.Invoice,
  | "companyId"
  | "amount"
  | "minAmount"
  | "maxAmount"
  | "memo"
  | "metadata"
  | "lightningAddressId"
  | "checkoutId"
  | "apiKeyId"
  | "callback"
  | "rate"
  | "rateAtMillis"
> {
  readonly description: Description
  readonly expirySeconds: number
  readonly request?: Answer.Request<Invoice.Invoice> | undefined
}

/** A hold invoice: with the hash of a preimage that the company keeps, or null where the node makes one. */
export interface AskedHold {
  readonly paymentHash: PaymentHash.PaymentHash | null
}

/** Has invoices issued by the node, and records them. What was checked and priced before comes here. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiver = yield* LightningReceiver
  const records = yield* ReceivingReads
  const entropy = yield* Entropy
  const stops = yield* Stops
  const channels = yield* Channels

  /** An invoice that the node issues as `ask` has it. */
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
      status: "pending",
      received: null,
      hold,
      held: null,
      heldUntilMillis: null,
      preimage: null,
      claimedBy: null,
      createdAtMillis,
      expiresAtMillis: createdAtMillis + expirySeconds * 1000,
      settledAtMillis: null,
      canceledAtMillis: null
    }
    const once = Answer.once(asked.companyId, request, invoice, createdAtMillis + Answer.keptMillis)
    const outcome = Answers.outcome(yield* journal.commit(Invoice.created(invoice, once)), invoice)
    if (invoice.amount !== null) yield* channels.issued(invoice.amount)
    return outcome
  })

  const issue = (draft: Draft) => issuedBy(draft, null, receiver.createInvoice)

  const issueHold = Effect.fnUntraced(function* (draft: Draft, { paymentHash }: AskedHold) {
    const { holding } = receiver
    if (holding === undefined)
      return yield* new Invalid({ path: "hold", message: "Without it: the node of this service does not hold payments" })
    // Requests at the same time may each find room: as many more, at most, as are answered at once.
    if ((yield* records.openHolds(draft.companyId, holds.mostOpen)) >= holds.mostOpen)
      return yield* new Invoice.TooManyHeld({ maximum: holds.mostOpen })
    return yield* issuedBy(draft, paymentHash === null ? "node" : "company", (ask) =>
      holding.createInvoice({ ...ask, ...(paymentHash !== null && { paymentHash }) })
    ).pipe(
      Effect.catchTag("PaymentHashTaken", () =>
        Effect.fail(new Invalid({ path: "payment_hash", message: "That of a new preimage: the node has an invoice with this one" }))
      )
    )
  })

  return { issue, issueHold }
})
