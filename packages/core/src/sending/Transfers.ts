import { Clock, Effect, Redacted } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import { LightningReceiver, type NodeUnavailable } from "../nodes/LightningReceiver.ts"
import * as CreditShares from "../receiving/CreditShares.ts"
import * as Deposit from "../receiving/Deposit.ts"
import * as Invoice from "../receiving/Invoice.ts"
import { DepositJobs } from "../receiving/DepositJobs.ts"
import { InvoiceJobs } from "../receiving/InvoiceJobs.ts"
import type { OnChainAddress } from "../receiving/OnChainAddress.ts"
import * as DepositMetadata from "../receiving/DepositMetadata.ts"
import { type WithdrawalOutcomes, overtaken } from "./WithdrawalOutcomes.ts"
import type { Next } from "./Payouts.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as Purpose from "../receiving/Purpose.ts"

/** The company whose address or invoice is paid, with the metadata of that address or invoice. */
type Payee = Pick<OnChainAddress, "companyId" | "metadata"> & Partial<Purpose.Purpose>

/** Pays withdrawals internally, to one of our companies. */
export const make = Effect.fnUntraced(function* ({ fail }: WithdrawalOutcomes) {
  const journal = yield* Journal
  const receiver = yield* LightningReceiver
  const entropy = yield* Entropy
  const metadataOf = yield* DepositMetadata.make
  const jobsOf = yield* InvoiceJobs
  const jobsOfDeposit = yield* DepositJobs
  const withShares = yield* CreditShares.make

  /** Credits the deposit, with its shares. */
  const book = (change: Withdrawal.InternalTransferred, deposit: Deposit.Deposit) =>
    Effect.flatMap(withShares(change, deposit), journal.commit)

  const now = Clock.currentTimeMillis

  const depositFor = (
    withdrawal: Withdrawal.Withdrawal,
    payee: Payee,
    invoiceId: string | null,
    atMillis: number
  ): Deposit.Deposit => {
    const { companyId, metadata } = payee
    const { ledgerTxId, recipient, amount, network, rail } = withdrawal
    const paid = {
      companyId,
      ledgerTxId,
      recipient,
      amount,
      network,
      rail,
      lightningInvoiceId: invoiceId,
      metadata,
      ...Purpose.of(payee)
    }
    return Deposit.settledFromStart({ id: Id.fromMillis(atMillis, entropy), ...paid }, atMillis)
  }

  const toAddress = Effect.fnUntraced(
    function* (
      withdrawal: Withdrawal.Withdrawal,
      address: Payee,
      lightningAddressId: string | null,
      task: Task
    ) {
      const atMillis = yield* now
      const deposit = depositFor(withdrawal, address, null, atMillis)
      const to = {
        deposit,
        invoice: null,
        preimage: null,
        lightningAddressId,
        jobs: jobsOfDeposit(deposit, atMillis)
      }
      yield* book(Withdrawal.transferred(withdrawal, to, fence(task), atMillis), deposit)
      return "done" as const
    },
    Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken, InvoiceNotPayable: Effect.die })
  )

  /** Cancels an invoice at the node. A node that was restored, or deletes canceled invoices, may not know it. */
  const close = ({ paymentHash }: Invoice.Invoice) =>
    Effect.catchTag(receiver.cancelInvoice(paymentHash), "NodeUnavailable", (outage) =>
      Effect.flatMap(receiver.lookupInvoice(paymentHash), (state) =>
        state._tag === "unknown" ? Effect.succeed(state) : Effect.fail(outage)
      )
    )

  return {
    toAddress,

    /** Pays an offer of one of our companies. The node is not involved and has no record of the payment. */
    withoutInvoice: (withdrawal: Withdrawal.Withdrawal, issued: DepositMetadata.Source, task: Task) =>
      Effect.flatMap(metadataOf(issued), (own) =>
        toAddress(withdrawal, { companyId: issued.companyId, ...own }, issued.lightningAddressId, task)
      ),

    /** Pays an invoice of one of our companies: claims it, cancels it at the node, and only then pays it. */
    forInvoice: (
      withdrawal: Withdrawal.Withdrawal,
      invoice: Invoice.Invoice,
      task: Task
    ): Effect.Effect<Next, StoreUnavailable | NodeUnavailable> =>
      Effect.gen(function* () {
        // A payee's server may return a hold invoice. Its company must accept the payment, and a node does not
        // return its preimage when it cancels it.
        if (invoice.hold !== null) return yield* fail(withdrawal, "invoice_not_payable", task)
        const atMillis = yield* now
        // If another withdrawal claimed it, the commit is refused.
        const isClaimed = invoice.status === "claimed"
        if (!isClaimed && invoice.expiresAtMillis <= atMillis)
          return yield* fail(withdrawal, "invoice_expired", task)
        // The withdrawal was confirmed while another node was in use. This node cannot cancel the invoice, so
        // do not start.
        if (!isClaimed && receiver.lacks?.has("cancel") === true)
          return yield* fail(withdrawal, "invoice_not_payable", task)
        const own = yield* metadataOf(invoice)
        const payee = { companyId: invoice.companyId, ...Purpose.of(invoice), ...own }
        const deposit = depositFor(withdrawal, payee, invoice.id, atMillis)
        yield* journal.commit({
          ...Invoice.claimed(invoice, withdrawal.id, fence(task), atMillis),
          jobs: jobsOf(invoice, atMillis)
        })
        const canceled = yield* close(invoice)
        // An external payment arrived first, and is credited to the invoice. Or the node does not know the invoice.
        if (canceled._tag !== "canceled") return yield* fail(withdrawal, "invoice_not_payable", task)
        yield* book(
          Withdrawal.transferred(
            withdrawal,
            {
              deposit,
              jobs: jobsOfDeposit(deposit, atMillis),
              invoice: {
                id: invoice.id,
                paymentHash: invoice.paymentHash,
                paymentRequest: invoice.paymentRequest
              },
              preimage: Redacted.value(canceled.preimage), // this Change pays the invoice, so its preimage is no longer secret
              lightningAddressId: invoice.lightningAddressId
            },
            fence(task),
            atMillis
          ),
          deposit
        )
        return "done" as const
      }).pipe(
        Effect.catchTags({
          InvoiceNotPayable: () => fail(withdrawal, "invoice_not_payable", task),
          StaleFence: overtaken,
          AlreadyTerminal: overtaken
        })
      )
  }
})
