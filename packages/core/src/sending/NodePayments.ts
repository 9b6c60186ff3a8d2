import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Effect, Result } from "effect"
import type { Sent } from "../nodes/LightningBooks.ts"
import { LightningSender, type NotFound, type NotSent, type Payment } from "../nodes/LightningSender.ts"
import * as OfferSender from "../nodes/OfferSender.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"
import * as Recipient from "./Recipient.ts"
import * as Withdrawal from "./Withdrawal.ts"

type Rules = Pick<PaymentOptions["Service"], "maxFinalCltvExpiry">

/** The state of a payment as reported by the node. */
export type PaymentState = Payment | OfferSender.OfferPayment
export type LookupResult = PaymentState | NotFound

/** A withdrawal's payment at the node, by invoice or by offer. */
export interface NodePayment {
  /**
   * The payment's identifier at the node: the invoice's payment hash, or the withdrawal's id for an offer.
   * Stored before the node is called.
   */
  readonly key: string
  /**
   * The hash that the preimage must match; null for an offer, whose hash the node reports once it has paid.
   */
  readonly paymentHash: PaymentHash.PaymentHash | null
  /** How long a call to pay may take to reach the node. */
  readonly graceMillis: number
  /**
   * Returns whether the node itself refuses a call that reaches it only now, because the invoice has expired by any
   * clock. False for an offer, since its issuer can always send another invoice.
   */
  readonly isRefused: (nowMillis: number) => boolean
  readonly pay: Effect.Effect<PaymentState | NotSent>
  readonly lookup: Effect.Effect<LookupResult>
}

/** A payment that has not been sent yet. */
export interface NewPayment extends NodePayment {
  readonly attempt: Withdrawal.Attempt
  /** Checks whether the payment can still be made. */
  readonly check: (rules: Rules, nowMillis: number) => Result.Result<void, Recipient.DestinationRefused>
}

/** How far the node's clock may be behind ours. */
const clockMarginMillis = 10 * 60_000

const unknown = Effect.succeed({ _tag: "unknown" } as const)
const notSent = Effect.succeed({ _tag: "notSent" } as const)

/** Creates payments that can be sent and looked up at the service's node. */
export const make = Effect.gen(function* () {
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available

  /**
   * Looks up the state of a sent payment. If the node does not support offers, a payment by offer is `unknown`,
   * because another node may have sent it.
   */
  const lookup = (withdrawal: Withdrawal.Withdrawal): Effect.Effect<LookupResult> => {
    if (Withdrawal.isByOffer(withdrawal)) return offers?.lookupOffer(withdrawal.id) ?? unknown
    return withdrawal.paymentHash === null ? unknown : sender.lookupPayment(withdrawal.paymentHash)
  }

  // The invoice is not decoded and the node is not called until the Effect runs.
  const ofInvoice = (
    { amount, networkAllowance: feeLimit }: Withdrawal.Withdrawal,
    paymentHash: PaymentHash.PaymentHash,
    invoice: () => Bolt11.Bolt11
  ): NodePayment => ({
    key: paymentHash,
    paymentHash,
    graceMillis: sender.graceMillis,
    isRefused: (nowMillis) => Bolt11.expiresAtSeconds(invoice()) * 1000 + clockMarginMillis < nowMillis,
    pay: Effect.suspend(() => sender.pay({ invoice: invoice(), amount, feeLimit })),
    lookup: Effect.suspend(() => sender.lookupPayment(paymentHash))
  })

  const ofOffer = (
    { id: attempt, amount, networkAllowance: feeLimit }: Withdrawal.Withdrawal,
    offer: () => Bolt12.Bolt12
  ): NodePayment => ({
    key: attempt,
    paymentHash: null,
    graceMillis: offers?.graceMillis ?? 0,
    isRefused: () => false,
    pay: Effect.suspend(() => offers?.payOffer({ attempt, offer: offer(), amount, feeLimit }) ?? notSent),
    lookup: Effect.suspend(() => offers?.lookupOffer(attempt) ?? unknown)
  })

  return {
    lookup,
    /** Looks up the state of a payment in the node's history. */
    lookupSent: ({
      paymentHash,
      attempt
    }: Pick<Sent, "paymentHash" | "attempt">): Effect.Effect<LookupResult> =>
      attempt === undefined ? sender.lookupPayment(paymentHash) : (offers?.lookupOffer(attempt) ?? unknown),
    byInvoice: (
      withdrawal: Withdrawal.Withdrawal,
      invoice: Bolt11.Bolt11,
      successAction: SuccessAction | null
    ): NewPayment => {
      const { paymentHash, paymentRequest } = invoice
      return {
        ...ofInvoice(withdrawal, paymentHash, () => invoice),
        attempt: { _tag: "Lightning", paymentHash, paymentRequest, successAction },
        check: (rules, nowMillis) => Recipient.checkBolt11(invoice, rules, nowMillis)
      }
    },
    byOffer: (withdrawal: Withdrawal.Withdrawal, offer: Bolt12.Bolt12): NewPayment => ({
      ...ofOffer(withdrawal, () => offer),
      attempt: { _tag: "Bolt12", offer: offer.offer },
      check: (_, nowMillis) =>
        offers === undefined
          ? Result.fail(
              new Recipient.DestinationRefused({
                code: "invoice_not_payable",
                message: "This service's node cannot pay BOLT 12 offers"
              })
            )
          : Recipient.checkBolt12(offer, withdrawal.amount, nowMillis)
    }),
    /** Returns the payment of a withdrawal that was sent. */
    sent: (withdrawal: Withdrawal.Withdrawal): NodePayment => {
      const { paymentHash, paymentRequest } = withdrawal
      const text = paymentRequest ?? ""
      return paymentHash === null
        ? ofOffer(withdrawal, () => Result.getOrThrow(Bolt12.decode(text)))
        : ofInvoice(withdrawal, paymentHash, () => Result.getOrThrow(Bolt11.decode(text)))
    },
    /** The longest that a call to pay may take to reach the node, for an invoice or an offer. */
    graceMillis: Math.max(sender.graceMillis, offers?.graceMillis ?? 0)
  }
})

export type NodePayments = Effect.Success<typeof make>
