import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Latch, Layer, Schema } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type { Company } from "../accounts/Company.ts"
import type * as Fee from "../accounts/Fee.ts"
import { Fees } from "../accounts/Fees.ts"
import { Installation } from "../accounts/Installation.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import * as Amount from "../base/Amount.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Throttle from "../base/Throttle.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import type { InsufficientBalance } from "../ledger/Balance.ts"
import { type Conflict, type IdempotencyMismatch, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Shortage from "../ledger/Shortage.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import { type Asked, type Priced, Prices } from "../nodes/Prices.ts"
import type { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** What a company wants to send, and where. Without `asked`, what the destination itself asks for. */
export interface Ask {
  readonly company: Pick<Company, "id" | "plan">
  readonly asked: Asked | undefined
  readonly destination: string
}

/** What a withdrawal would come to. Nothing is held, and no payment tried. */
export interface Estimate {
  readonly recipient: string
  readonly recipientType: Destination.RecipientType
  readonly amount: Msat.Msat
  /** What would be charged on top of the amount. */
  readonly fee: Fee.Fee
  /** 0 … 1: 1 inside the service and on-chain, the best route's over Lightning, 0 where there is none. */
  readonly successProbability: number
}

/**
 * Too many estimates asked recipients' servers. Each makes two requests there and an invoice, holds no money, and needs a key that may only read: without a
 * limit a company could have this service ask a stranger as often as it likes.
 */
export class TooManyEstimates extends Schema.TaggedError<TooManyEstimates>()("TooManyEstimates", {
  /** For whom there were too many: the company, or the recipient's server. */
  of: Schema.Literals(["company", "host"]),
  perMinute: Schema.Int
}) {}

/** How a request to send may be refused or come to nothing. In every case nothing is held. */
export type Refused =
  | AmountInvalid
  | Invalid
  | Destination.DestinationInvalid
  | Recipient.DestinationRefused
  | RecipientRefused
  | RecipientUnreachable
  | RateUnavailable
  | ChainUnavailable
  | StoreUnavailable

/** Sends money out. */
export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    /** Checks everything that `confirm` checks but the balance, and says what it would cost. */
    readonly estimate: (ask: Ask) => Effect.Effect<Estimate, Refused | NodeUnavailable | TooManyEstimates>
    /** Holds amount and fee and records the withdrawal with the task of sending it, in one commit. Sending is a worker's job. */
    readonly confirm: (
      ask: Ask & {
        readonly metadata: Metadata.Metadata
        readonly request?: Answer.Request<Withdrawal.Withdrawal>
      }
    ) => Effect.Effect<Answer.Outcome<Withdrawal.Withdrawal>, Refused | InsufficientBalance | Conflict | IdempotencyMismatch>
    /** Returns as soon as this process has confirmed a withdrawal since the last wait here. */
    readonly confirmed: Effect.Effect<void>
  }
>()("@satrail/core/sending/Withdrawals") {}

/** The amount to pay: the one asked for and the destination's own must agree, to the sat, or within 1 % where fiat was converted. */
const agreed = Effect.fnUntraced(function* (asked: (Priced & { readonly isFiat: boolean }) | undefined, own: Msat.Msat | undefined) {
  if (own === undefined) {
    return (
      asked ??
      (yield* new Recipient.DestinationRefused({
        code: "amount_required",
        message: "The destination has no amount: give amount and currency"
      }))
    )
  }
  if (asked === undefined) return { amount: own, rate: null, rateAtMillis: null }
  const difference = asked.amount > own ? asked.amount - own : own - asked.amount
  if (asked.isFiat ? difference * 100n <= own : difference < 1000n)
    return { amount: own, rate: asked.rate, rateAtMillis: asked.rateAtMillis }
  return yield* new Recipient.DestinationRefused({
    code: "amount_mismatch",
    message: `The destination's amount is ${Msat.toSatsCeiling(own)} sats, the request's is ${Msat.toSats(asked.amount)}`
  })
})

/** Whether this much may be sent at once. */
export const checkSendable = (amount: Msat.Msat, { minAmount, maxWithdrawal }: Bounds["Service"]): Effect.Effect<void, Invalid> =>
  amount >= minAmount && amount <= maxWithdrawal
    ? Effect.void
    : Effect.fail(new Invalid({ path: "amount", message: `From ${Msat.toSats(minAmount)} to ${Msat.toSats(maxWithdrawal)} sats` }))

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const prices = yield* Prices
  const recipients = yield* Recipients
  const sender = yield* LightningSender
  const fees = yield* Fees
  const { network } = yield* Installation
  const bounds = yield* Bounds
  const { payoutWindowMillis } = yield* PayoutOptions
  const entropy = yield* Entropy
  const confirmed = yield* Latch.make(false)
  const { estimates } = yield* PaymentOptions
  const mayAsk = { company: Throttle.make(estimates.perCompany), host: Throttle.make(estimates.perHost) }

  /** Whether another estimate may ask the recipient's server, where there is one to ask. */
  const checkOften = Effect.fnUntraced(function* ({ company, destination: text }: Ask) {
    const host = yield* recipients.host(yield* Effect.fromResult(Destination.parse(text, network)))
    if (host === undefined) return
    const nowMillis = yield* Clock.currentTimeMillis
    const { perCompany, perHost } = estimates
    if (!mayAsk.company(company.id, nowMillis))
      return yield* new TooManyEstimates({ of: "company", perMinute: Throttle.inAMinute(perCompany) })
    if (!mayAsk.host(host, nowMillis)) return yield* new TooManyEstimates({ of: "host", perMinute: Throttle.inAMinute(perHost) })
  })

  /** Everything about a request that can be known before any money is touched. */
  const plan = Effect.fnUntraced(function* ({ company, asked, destination: text }: Ask) {
    const destination = yield* Effect.fromResult(Destination.parse(text, network))
    const priced = asked && { ...(yield* prices.price(asked)), isFiat: Amount.isFiat(asked.currency) }
    const { amount, rate, rateAtMillis } = yield* agreed(priced, Destination.amount(destination))
    yield* checkSendable(amount, bounds)
    const recipient = yield* recipients.payable(company.id, destination, amount)
    const way = Recipient.isInternal(recipient) ? "internal" : recipient._tag === "Address" ? "on_chain" : "lightning"
    return { destination, recipient, amount, rate, rateAtMillis, fee: yield* fees.quote({ company, way, amount }) }
  })

  const probability = Effect.fnUntraced(function* (recipient: Recipient.Recipient, amount: Msat.Msat, feeLimit: Msat.Msat) {
    if (Recipient.isInternal(recipient) || recipient._tag === "Address") return 1
    const invoice =
      recipient._tag === "Offer"
        ? (yield* recipients.invoice(recipient.offer, amount)).bolt11
        : recipient._tag === "Invoice"
          ? recipient.bolt11
          : undefined
    const quote = invoice && (yield* sender.quote({ invoice, amount, feeLimit }))
    return quote?.probability ?? 0
  })

  return Withdrawals.of({
    estimate: Effect.fnUntraced(function* (ask) {
      yield* checkOften(ask)
      const { destination, recipient, amount, fee } = yield* plan(ask)
      return {
        recipient: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        amount,
        fee,
        successProbability: yield* probability(recipient, amount, fee.network)
      }
    }),
    confirm: Effect.fnUntraced(function* ({ metadata, request, ...ask }) {
      const companyId = ask.company.id
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* Metadata.check(metadata)
      const { destination, recipient, amount, rate, rateAtMillis, fee } = yield* plan(ask)
      const nowMillis = yield* Clock.currentTimeMillis
      const withdrawal = Withdrawal.pending({
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        amount,
        serviceFee: fee.service,
        networkAllowance: fee.network,
        recipient: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        rail: Recipient.rail(recipient),
        network,
        metadata,
        rate,
        rateAtMillis,
        createdAtMillis: nowMillis
      })
      const dueAtMillis = Withdrawal.payoutDueAtMillis(nowMillis, payoutWindowMillis)
      const work = recipient._tag === "Address" ? { kind: Withdrawal.payoutKind, dueAtMillis } : undefined
      // A withdrawal's idempotency key is kept for ever: a retry may come at any time.
      const change = Withdrawal.requested(withdrawal, Answer.once(companyId, request, withdrawal, null), work)
      const applied = yield* Shortage.told(ledger, journal.commit(change))
      yield* confirmed.open
      return Answers.outcome(applied, withdrawal)
    }),
    confirmed: Effect.andThen(confirmed.await, confirmed.close)
  })
})

export const layer = Layer.effect(Withdrawals, make)
