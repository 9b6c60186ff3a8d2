import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type { Sender } from "../accounts/Company.ts"
import * as Fee from "../accounts/Fee.ts"
import { FeeChanged, Fees } from "../accounts/Fees.ts"
import { Installation } from "../accounts/Installation.ts"
import * as Limits from "../accounts/Limits.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import * as Amount from "../base/Amount.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as Limit from "../ledger/Limit.ts"
import type { Rail } from "../ledger/Rail.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import { type Asked, type Priced, Prices } from "../nodes/Prices.ts"
import type { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import * as PayableOffers from "./PayableOffers.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as Spending from "./Spending.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"

/** What a company wants to send, and where. Without `asked`, what the destination itself asks for. */
export interface Ask extends Limits.Spender {
  readonly company: Sender
  readonly asked: Asked | undefined
  readonly destination: string
  /** What is sent where neither the request nor the destination has an amount. */
  readonly otherwise?: Msat.Msat
  /** The whole fee that the company accepts, as an estimate said it: confirming is refused where it is more by now. */
  readonly maxFee?: Msat.Msat | undefined
}

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

/** The amount to pay: the one asked for and the destination's own must agree, to the sat, or within 1 % where fiat was converted; where that is the least, more will do. */
const agreed = Effect.fnUntraced(function* (
  asked: (Priced & { readonly isFiat: boolean }) | undefined,
  own: Msat.Msat | undefined,
  isLeast: boolean,
  otherwise: Msat.Msat | undefined
) {
  if (own === undefined) {
    return (
      asked ??
      (otherwise !== undefined ? { amount: otherwise, rate: null, rateAtMillis: null } : undefined) ??
      (yield* new Recipient.DestinationRefused({
        code: "amount_required",
        message: "The destination has no amount: give amount and currency"
      }))
    )
  }
  const free = isLeast && otherwise !== undefined && otherwise > own ? otherwise : own
  if (asked === undefined) return { amount: free, rate: null, rateAtMillis: null }
  if (isLeast && asked.amount > own) return asked
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

/** Withdrawals as they will be once they are committed. */
export const make = Effect.gen(function* () {
  const prices = yield* Prices
  const recipients = yield* Recipients
  const fees = yield* Fees
  const { network } = yield* Installation
  const bounds = yield* Bounds
  const { payoutWindowMillis } = yield* PayoutOptions
  const entropy = yield* Entropy
  const waysFor = yield* PayableOffers.make
  const mayBegin = yield* WithdrawalHooks.make

  const parse = (text: string) => Effect.flatMap(waysFor(text), (ways) => Effect.fromResult(Destination.parse(text, network, ways)))

  /** Who would be paid, and for which fee. */
  const way = Effect.fnUntraced(function* (company: Sender, destination: Destination.Destination, amount: Msat.Msat, rail?: Rail) {
    const recipient = yield* recipients.payable(company.id, destination, amount, rail)
    const way = Recipient.isInternal(recipient) ? "internal" : recipient._tag === "Address" ? "on_chain" : "lightning"
    return { recipient, fee: yield* fees.quote({ company, way, amount }) }
  })

  /** Everything about a request that can be known before any money is touched. */
  const plan = Effect.fnUntraced(function* ({ company, asked, destination: text, otherwise }: Ask) {
    const destination = yield* parse(text)
    const priced = asked && { ...(yield* prices.price(asked)), isFiat: Amount.isFiat(asked.currency) }
    const { amount, rate, rateAtMillis } = yield* agreed(
      priced,
      Destination.amount(destination),
      Destination.isLeast(destination),
      otherwise
    )
    yield* checkSendable(amount, bounds)
    const found = yield* way(company, destination, amount)
    return { destination: Recipient.understood(destination, found.recipient), amount, rate, rateAtMillis, ...found }
  })

  const workOf = ({ _tag }: Recipient.Recipient, nowMillis: number) =>
    _tag === "Address"
      ? { kind: Withdrawal.payoutKind, dueAtMillis: Withdrawal.payoutDueAtMillis(nowMillis, payoutWindowMillis) }
      : { kind: Withdrawal.taskKind, dueAtMillis: nowMillis }

  return {
    plan,
    /** What a caller gave as a destination, as this service can pay it. */
    parse,
    /** Checks a withdrawal that waited as it was checked when it was asked for. Returns the work of sending it now, and its fee by now. */
    again: Effect.fnUntraced(function* (company: Sender, row: Withdrawal.Withdrawal) {
      const destination = yield* Effect.orDie(Effect.fromResult(Destination.parse(row.recipient, row.network)))
      const { recipient, fee } = yield* way(company, destination, row.amount, row.rail)
      yield* mayBegin({ spender: { company }, recipient, withdrawal: row })
      const atMillis = yield* Clock.currentTimeMillis
      return { fee, atMillis, work: workOf(recipient, atMillis) }
    }),
    /** The withdrawal, who is paid, the work that sending it is, and against what it counts. */
    withdrawal: Effect.fnUntraced(function* ({
      metadata,
      refundId,
      ...ask
    }: Ask & { readonly metadata: Metadata.Metadata; readonly refundId: string | null }) {
      yield* Metadata.check(metadata)
      const { destination, recipient, amount, rate, rateAtMillis, fee } = yield* plan(ask)
      if (ask.maxFee !== undefined && Fee.total(fee) > ask.maxFee) return yield* new FeeChanged({ fee: Fee.total(fee) })
      const nowMillis = yield* Clock.currentTimeMillis
      const counts = Limits.countsOf(ask, nowMillis)
      const asked = Withdrawal.pending({
        id: Id.fromMillis(nowMillis, entropy),
        companyId: ask.company.id,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        amount,
        serviceFee: fee.service,
        networkAllowance: fee.network,
        recipient: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        rail: Recipient.rail(recipient),
        network,
        metadata,
        refundId,
        rate,
        rateAtMillis,
        counted: Limit.noted(counts),
        createdAtMillis: nowMillis
      })
      yield* Spending.check(ask, { ...asked, amount: Withdrawal.held(asked) })
      const waits = yield* mayBegin({ spender: ask, recipient, withdrawal: asked })
      const withdrawal = waits === undefined ? asked : { ...asked, ...waits }
      return { withdrawal, recipient, work: workOf(recipient, nowMillis), counts, feesRevision: ask.company.feesRevision ?? 0 }
    })
  }
})
