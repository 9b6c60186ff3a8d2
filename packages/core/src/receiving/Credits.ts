import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Effect, Option } from "effect"
import { Installation } from "../accounts/Installation.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import type * as Change from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import { Journal } from "../ledger/Journal.ts"
import type { Settled } from "../nodes/LightningReceiver.ts"
import * as CreditShares from "./CreditShares.ts"
import * as Deposit from "./Deposit.ts"
import { DepositJobs } from "./DepositJobs.ts"
import * as Invoice from "./Invoice.ts"
import { InvoiceJobs } from "./InvoiceJobs.ts"
import * as IssuedOffers from "./IssuedOffers.ts"
import * as DepositMetadata from "./DepositMetadata.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"

/** A payment that the node received for an invoice. */
export type Payment = Pick<Settled, "paymentHash" | "received" | "preimage" | "offerId">

/** Credits payments received by the node to the company that owns the invoice. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiving = yield* ReceivingReads
  const offers = yield* IssuedOffers.IssuedOffers
  const { network } = yield* Installation
  const entropy = yield* Entropy
  const metadataOf = yield* DepositMetadata.make
  const jobsOf = yield* InvoiceJobs
  const jobsOfDeposit = yield* DepositJobs
  const withShares = yield* CreditShares.make

  /**
   * Puts a payment in suspense because its invoice was settled by another payment. The payment belongs to no
   * company until an operator has reviewed it.
   */
  const suspend = Effect.fnUntraced(function* (
    invoice: Invoice.Invoice,
    received: Msat.Msat,
    nowMillis: number,
    reading: Change.Reading | undefined
  ) {
    yield* Effect.logError("invoice: paid twice; the second payment is in suspense", {
      invoiceId: invoice.id,
      receivedSats: Msat.toDecimalSats(received)
    })
    const { companyId, paymentHash } = invoice
    // Derive the id from the hash so that the same payment reported twice is recorded once.
    const reason = "invoice settled by another payment"
    const unmatched = {
      id: Id.fromHash(paymentHash),
      companyId,
      paymentHash,
      received,
      reason,
      createdAtMillis: nowMillis
    }
    yield* journal
      .commit(Invoice.unmatched(unmatched, reading))
      .pipe(
        Effect.catchTag("Conflict", (conflict) =>
          Effect.logError("invoice: paid a third time; not booked", conflict)
        )
      )
  })

  const depositOf = (
    invoice: Invoice.Invoice,
    received: Msat.Msat,
    own: Pick<Deposit.Deposit, "metadata" | "splits">,
    nowMillis: number
  ): Deposit.Deposit =>
    Deposit.settledFromStart(
      {
        id: Id.fromMillis(nowMillis, entropy),
        companyId: invoice.companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        recipient: invoice.paymentRequest,
        amount: received,
        network,
        rail: "lightning",
        lightningInvoiceId: invoice.id,
        ...Purpose.of(invoice),
        ...own
      },
      nowMillis
    )

  /**
   * Returns the record of the paid invoice. The node creates invoices for our offers itself, so such an invoice
   * is only recorded now. Concurrent calls record it once, by its hash.
   */
  const invoiceOf = Effect.fnUntraced(function* (
    { offerId, paymentHash, preimage }: Payment,
    nowMillis: number
  ) {
    const known = yield* receiving.invoiceByHash(paymentHash)
    if (Option.isSome(known) || offerId === undefined || !Preimage.proves(preimage, paymentHash)) return known
    const offer = yield* offers.byId(offerId)
    if (Option.isNone(offer)) return known
    const invoice = IssuedOffers.invoice(
      offer.value,
      { id: Id.fromMillis(nowMillis, entropy), paymentHash },
      nowMillis
    )
    yield* Effect.catchTags(journal.commit(Invoice.created(invoice)), {
      Conflict: () => Effect.void,
      IdempotencyMismatch: Effect.die // the Change has no idempotency key
    })
    return yield* receiving.invoiceByHash(paymentHash)
  })

  /**
   * Credits a payment. Concurrent or repeated calls for the same payment credit it once. `reading` is the
   * position in the node's notifications; its cursor moves in the same commit.
   */
  const credit = Effect.fnUntraced(function* (paid: Payment, reading?: Change.Reading) {
    const nowMillis = yield* Clock.currentTimeMillis
    const found = yield* invoiceOf(paid, nowMillis)
    if (found._tag === "None") {
      yield* Effect.logInfo("invoice: the node received a payment for an unknown invoice", {
        paymentHash: paid.paymentHash
      })
      if (reading !== undefined)
        yield* journal.commit(
          Cursor.moved(reading.cursor, Id.fromMillis(nowMillis, entropy), nowMillis, reading.fence)
        )
      return
    }
    const invoice = found.value
    if (!Preimage.proves(paid.preimage, paid.paymentHash)) {
      return yield* Effect.logError(
        "invoice: the node reported a settlement without a valid preimage; not credited",
        {
          invoiceId: invoice.id
        }
      )
    }
    const deposit = depositOf(invoice, paid.received, yield* metadataOf(invoice), nowMillis)
    const change = {
      ...Invoice.settled(invoice, deposit, paid.preimage, reading),
      jobs: [...jobsOfDeposit(deposit, nowMillis), ...jobsOf(invoice, nowMillis), ...Invoice.ends(invoice)]
    }
    yield* journal
      .commit(yield* withShares(change, deposit))
      .pipe(Effect.catchTag("InvoiceNotPayable", () => suspend(invoice, paid.received, nowMillis, reading)))
  })

  return { credit }
})
