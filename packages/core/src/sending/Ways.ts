import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Effect, Result } from "effect"
import type { Sent } from "../nodes/LightningBooks.ts"
import { LightningSender, type NotSent, type Payment } from "../nodes/LightningSender.ts"
import * as OfferSender from "../nodes/OfferSender.ts"
import type { SuccessAction } from "../nodes/SuccessAction.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"
import * as Recipient from "./Recipient.ts"
import * as Withdrawal from "./Withdrawal.ts"

type Rules = Pick<PaymentOptions["Service"], "expiryMarginMillis" | "maxFinalCltvExpiry">

/** How the node says that a payment stands. */
export type Told = Payment | OfferSender.OfferPayment
export type Looked = Told | { readonly _tag: "notFound" }

/** A payment of a withdrawal over Lightning, by its invoice or by its offer. */
export interface Way {
  /** What the node knows it by, ours and stored before it is called: the hash of an invoice, the withdrawal's own id for an offer. */
  readonly key: string
  /** What a preimage has to prove; null where the node says that when it has paid. */
  readonly paymentHash: PaymentHash.PaymentHash | null
  /** How long a call to pay may still arrive. */
  readonly graceMillis: number
  readonly pay: Effect.Effect<Told | NotSent>
  readonly lookup: Effect.Effect<Looked>
}

/** One that was not sent yet. */
export interface Fresh extends Way {
  readonly attempt: Withdrawal.Attempt
  /** Whether it may still be paid. */
  readonly check: (rules: Rules, nowMillis: number) => Result.Result<void, Recipient.DestinationRefused>
}

const unknown = Effect.succeed({ _tag: "unknown" } as const)
const notSent = Effect.succeed({ _tag: "notSent" } as const)

/** The ways that the service's node has. */
export const make = Effect.gen(function* () {
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available

  /** How the node says that a payment stands that was sent. One that cannot pay offers says nothing about what another one was sent. */
  const lookup = (withdrawal: Withdrawal.Withdrawal): Effect.Effect<Looked> => {
    if (Withdrawal.isByOffer(withdrawal)) return offers?.lookupOffer(withdrawal.id) ?? unknown
    return withdrawal.paymentHash === null ? unknown : sender.lookupPayment(withdrawal.paymentHash)
  }

  // Nothing is asked of the node, and nothing decoded, before the Effect runs.
  const ofInvoice = (
    { amount, networkAllowance: feeLimit }: Withdrawal.Withdrawal,
    paymentHash: PaymentHash.PaymentHash,
    invoice: () => Bolt11.Bolt11
  ): Way => ({
    key: paymentHash,
    paymentHash,
    graceMillis: sender.graceMillis,
    pay: Effect.suspend(() => sender.pay({ invoice: invoice(), amount, feeLimit })),
    lookup: Effect.suspend(() => sender.lookupPayment(paymentHash))
  })

  const ofOffer = ({ id: attempt, amount, networkAllowance: feeLimit }: Withdrawal.Withdrawal, offer: () => Bolt12.Bolt12): Way => ({
    key: attempt,
    paymentHash: null,
    graceMillis: offers?.graceMillis ?? 0,
    pay: Effect.suspend(() => offers?.payOffer({ attempt, offer: offer(), amount, feeLimit }) ?? notSent),
    lookup: Effect.suspend(() => offers?.lookupOffer(attempt) ?? unknown)
  })

  return {
    lookup,
    /** The same of a payment in the node's books. */
    lookupSent: ({ paymentHash, attempt }: Pick<Sent, "paymentHash" | "attempt">): Effect.Effect<Looked> =>
      attempt === undefined ? sender.lookupPayment(paymentHash) : (offers?.lookupOffer(attempt) ?? unknown),
    byInvoice: (withdrawal: Withdrawal.Withdrawal, invoice: Bolt11.Bolt11, successAction: SuccessAction | null): Fresh => {
      const { paymentHash, paymentRequest } = invoice
      return {
        ...ofInvoice(withdrawal, paymentHash, () => invoice),
        attempt: { _tag: "Lightning", paymentHash, paymentRequest, successAction },
        check: (rules, nowMillis) => Recipient.checkBolt11(invoice, rules, nowMillis)
      }
    },
    byOffer: (withdrawal: Withdrawal.Withdrawal, offer: Bolt12.Bolt12): Fresh => ({
      ...ofOffer(withdrawal, () => offer),
      attempt: { _tag: "Offer", offer: offer.offer },
      check: (rules, nowMillis) =>
        offers === undefined
          ? Result.fail(new Recipient.DestinationRefused({ code: "invoice_not_payable", message: "The node cannot pay BOLT 12 offers" }))
          : Recipient.checkBolt12(offer, withdrawal.amount, rules, nowMillis)
    }),
    /** The way that one was sent. */
    sent: (withdrawal: Withdrawal.Withdrawal): Way => {
      const { paymentHash, paymentRequest } = withdrawal
      const text = paymentRequest ?? ""
      return paymentHash === null
        ? ofOffer(withdrawal, () => Result.getOrThrow(Bolt12.decode(text)))
        : ofInvoice(withdrawal, paymentHash, () => Result.getOrThrow(Bolt11.decode(text)))
    },
    /** How long a call to pay may still arrive, whichever way. */
    graceMillis: Math.max(sender.graceMillis, offers?.graceMillis ?? 0)
  }
})

export type Ways = Effect.Success<typeof make>
