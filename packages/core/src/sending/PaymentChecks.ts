import type * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import * as OfferSender from "../nodes/OfferSender.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import type { Destination } from "./Destination.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { check, DestinationRefused, isUnpaid, type Recipient } from "./Recipient.ts"
import { SendingReads } from "./SendingReads.ts"
import type { Withdrawal } from "./Withdrawal.ts"

/** Checks whether a payment method can be used now. Nothing is held or sent. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const receiver = yield* LightningReceiver
  const paysOffers = (yield* OfferSender.available) !== undefined
  const rules = { ...(yield* Bounds), ...(yield* PaymentOptions) }

  /** Returns our own invoice; undefined if another node issued it. */
  const ownInvoice = Effect.fnUntraced(function* ({ payee, paymentHash, paymentRequest }: Bolt11.Bolt11) {
    if (payee !== receiver.nodeId) return undefined
    const invoice = yield* receiving.invoiceByHash(paymentHash)
    // Compare hash and text, because another invoice may copy our payment hash and have a different amount.
    if (invoice._tag === "Some" && invoice.value.paymentRequest === paymentRequest) return invoice.value
    return yield* new DestinationRefused({
      code: "recipient_not_found",
      message: "The invoice is signed by this service's node, but this service has no record of it"
    })
  })

  /**
   * Refuses an invoice with an earlier withdrawal. Two withdrawals cannot pay one invoice: the store enforces this when
   * sending, and this check reports it earlier.
   */
  const checkUnused = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    { paymentHash }: Bolt11.Bolt11,
    counts: (status: Withdrawal["status"]) => boolean = () => true
  ) {
    const earlier = yield* sending.withdrawalByHash(paymentHash)
    if (earlier._tag === "None" || !counts(earlier.value.status)) return
    return yield* earlier.value.companyId === companyId
      ? new DestinationRefused({
          code: "payment_hash_used",
          message: "Another withdrawal exists for this invoice. Get a new invoice from the payee"
        })
      : new DestinationRefused({
          code: "invoice_not_payable",
          message: "This invoice was already paid or is being paid. Get a new invoice from the payee"
        })
  })

  return {
    ownInvoice,
    /**
     * Refuses the methods for one payment if one of them is an invoice that was paid or may still be: another method
     * would pay the payee twice. An invoice whose payment failed does not count, because nothing was paid.
     */
    unpaid: Effect.fnUntraced(function* (
      companyId: CompanyId.CompanyId,
      methods: ReadonlyArray<Destination>
    ) {
      if (methods.length < 2) return
      for (const destination of methods) {
        if (destination._tag !== "LightningInvoice") continue
        const bolt11 = destination.invoice
        yield* checkUnused(companyId, bolt11, (status) => status !== "failed")
        const invoice = yield* Effect.catchTag(
          ownInvoice(bolt11),
          "DestinationRefused",
          () => Effect.undefined
        )
        if (invoice === undefined || isUnpaid(invoice)) continue
        const atMillis = yield* Clock.currentTimeMillis
        yield* Effect.fromResult(
          check({ _tag: "OwnInvoice", bolt11, invoice }, bolt11.amount ?? rules.minAmount, rules, atMillis)
        )
      }
    }),
    /**
     * Checks that this payee can be paid now. Without a company, the withdrawal exists already, and may itself have
     * claimed our own invoice, so only the invoice's text is checked.
     */
    payable: Effect.fnUntraced(function* (
      companyId: CompanyId.CompanyId | undefined,
      recipient: Recipient,
      amount: Msat.Msat
    ) {
      const priced = "bolt11" in recipient ? recipient.bolt11.amount : undefined
      if (priced !== undefined && priced !== amount)
        return yield* new DestinationRefused({
          code: "amount_mismatch",
          message: `The payee's invoice is for ${Msat.inSats(Msat.toSatsCeiling(priced))}`
        })
      // An expired invoice may have been paid, so this comes first.
      if (recipient._tag === "Invoice" && companyId !== undefined)
        yield* checkUnused(companyId, recipient.bolt11)
      const checked =
        recipient._tag === "OwnInvoice" && companyId === undefined
          ? { ...recipient, _tag: "Invoice" as const }
          : recipient
      yield* Effect.fromResult(check(checked, amount, rules, yield* Clock.currentTimeMillis))
      if (recipient._tag === "Bolt12" && !paysOffers)
        return yield* new DestinationRefused({
          code: "unsupported",
          message: "This service's node cannot pay BOLT 12 offers. Get a BOLT 11 invoice from the payee"
        })
      if (recipient._tag !== "OwnInvoice" || companyId === undefined) return
      // An invoice that is settled internally while still open at the node could also be paid from outside.
      if (receiver.lacks?.has("cancel") === true)
        return yield* new DestinationRefused({
          code: "invoice_not_payable",
          message:
            "This invoice was issued by this service, whose node cannot cancel it. Pay the payee's Lightning address instead"
        })
      yield* checkUnused(companyId, recipient.bolt11)
    })
  }
})
