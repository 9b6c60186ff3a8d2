import * as Msat from "@satrail/bitcoin/Msat"
import { Array as Arr, Clock, Effect, Result } from "effect"
import type { Unauthorized } from "../accounts/ApiKey.ts"
import { Bounds } from "../accounts/Bounds.ts"
import type { Sender } from "../accounts/Company.ts"
import * as CurrentSpender from "../accounts/CurrentSpender.ts"
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
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import { type Asked, type Priced, Prices } from "../nodes/Prices.ts"
import type { RecipientRefused, RecipientUnreachable } from "../nodes/Resolver.ts"
import * as Destination from "./Destination.ts"
import * as Max from "./Max.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as SpendingLimits from "./SpendingLimits.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"
import * as Cause from "./Cause.ts"
import * as Rated from "../base/Rated.ts"

/**
 * A company's request to send a payment. Without `asked`, the destination's amount is used. With `Max`, the largest
 * amount that the balance covers with its fee.
 */
export interface Ask extends Limits.Spender {
  readonly company: Sender
  readonly asked: Asked | Max.Max | undefined
  readonly destination: string
  /** The amount to use if neither the request nor the destination has one. */
  readonly otherwise?: Msat.Msat
  /**
   * Maximum total fee that the company accepts, as returned by an estimate. Confirming is rejected if the fee
   * is higher now.
   */
  readonly maxFee?: Msat.Msat | undefined
}

/** A request whose destination has been parsed. */
export interface ParsedAsk extends Omit<Ask, "destination"> {
  readonly methods: Destination.Methods
}

/** Errors of a request to send. In every case nothing is held. */
export type Refused =
  | Unauthorized
  | AmountInvalid
  | Invalid
  | Destination.DestinationInvalid
  | Recipient.DestinationRefused
  | RecipientRefused
  | RecipientUnreachable
  | RateUnavailable
  | ChainUnavailable
  | StoreUnavailable

/**
 * Returns the amount to pay. The requested amount and the destination's must agree to the sat, or within 1 %
 * after a fiat conversion. If the destination's amount is a minimum, a larger amount is allowed.
 */
const agreed = (
  asked: (Priced & { readonly isFiat: boolean }) | undefined,
  own: Msat.Msat | undefined,
  isLeast: boolean,
  otherwise: Msat.Msat | undefined
): Result.Result<Priced, Recipient.DestinationRefused> => {
  const unpriced = (amount: Msat.Msat) => Result.succeed({ amount, ...Rated.none })
  const refused = (code: "amount_required" | "amount_mismatch", message: string) =>
    Result.fail(new Recipient.DestinationRefused({ code, message }))
  if (own === undefined) {
    if (asked !== undefined) return Result.succeed(asked)
    return otherwise === undefined
      ? refused("amount_required", "The destination specifies no amount. Set amount and currency")
      : unpriced(otherwise)
  }
  if (asked === undefined)
    return unpriced(isLeast && otherwise !== undefined && otherwise > own ? otherwise : own)
  if (isLeast && asked.amount > own) return Result.succeed(asked)
  const difference = asked.amount > own ? asked.amount - own : own - asked.amount
  if (asked.isFiat ? difference * 100n <= own : difference < 1000n)
    return Result.succeed({ amount: own, ...Rated.of(asked) })
  return refused(
    "amount_mismatch",
    `The destination specifies ${Msat.inSats(Msat.toSatsCeiling(own))}, but the request specifies ${Msat.inSats(Msat.toSats(asked.amount))}`
  )
}

/** Checks that this amount may be sent in one withdrawal. */
export const checkSendable = (
  amount: Msat.Msat,
  { minAmount, maxWithdrawal }: Bounds["Service"]
): Effect.Effect<void, Invalid> =>
  amount >= minAmount && amount <= maxWithdrawal
    ? Effect.void
    : Effect.fail(
        new Invalid({
          path: "amount",
          message: `must be between ${Msat.toSats(minAmount)} and ${Msat.toSats(maxWithdrawal)} sats`
        })
      )

const outOfRange = ({ message }: Invalid) =>
  new Recipient.DestinationRefused({ code: "amount_out_of_range", message: `The amount ${message}` })

/** Makes a function that validates and prices a request for the largest amount. */
const makeMax = Effect.gen(function* () {
  const recipients = yield* Recipients
  const bounds = yield* Bounds
  const max = yield* Max.make
  return Effect.fnUntraced(function* (ask: Omit<ParsedAsk, "asked">, asked: Max.Max) {
    const { amount: most, fee } = yield* max(ask.company, asked)
    const priced = ask.methods.find(
      (one) => Destination.amount(one) !== undefined && !Destination.isLeast(one)
    )
    const own = priced && Destination.amount(priced)
    if (own !== undefined)
      return yield* new Recipient.DestinationRefused({
        code: "amount_mismatch",
        message: `The destination specifies ${Msat.inSats(Msat.toSatsCeiling(own))}. Leave out amount to pay that`
      })
    const methods = Arr.map(ask.methods, (destination) => ({ destination, amount: most }))
    const { destination, recipient } = yield* recipients.choose(ask.company.id, methods, ask.methods)
    const amount = Recipient.amountFor(recipient, most)
    const charged = yield* fee(recipient)
    yield* checkSendable(amount, bounds)
    return {
      destination: Recipient.understood(destination, recipient),
      recipient,
      fee: charged,
      amount,
      ...Rated.none
    }
  })
})

/** Prepares withdrawals for the commit. */
export const make = Effect.gen(function* () {
  const prices = yield* Prices
  const recipients = yield* Recipients
  const fees = yield* Fees
  const { network } = yield* Installation
  const bounds = yield* Bounds
  const { payoutWindowMillis } = yield* PayoutOptions
  const entropy = yield* Entropy
  const mayBegin = yield* WithdrawalHooks.make
  const current = yield* CurrentSpender.make
  const planMax = yield* makeMax

  const feeFor = (company: Sender, recipient: Recipient.Recipient, amount: Msat.Msat) =>
    fees.quote({ company, way: Recipient.way(recipient), amount })

  /** Returns the amount to pay with each method that specifies one. Methods that contradict the request are an error. */
  const offered = Effect.fnUntraced(function* ({
    asked,
    methods,
    otherwise
  }: Pick<ParsedAsk, "methods" | "otherwise"> & { readonly asked: Asked | undefined }) {
    const priced = asked && { ...(yield* prices.price(asked)), isFiat: Amount.isFiat(asked.currency) }
    const all = Arr.map(methods, (destination) =>
      Result.map(
        agreed(priced, Destination.amount(destination), Destination.isLeast(destination), otherwise),
        (price) => ({
          ...price,
          destination
        })
      )
    )
    const wrong = all.find((one) => Result.isFailure(one) && one.failure.code === "amount_mismatch")
    if (wrong !== undefined) return yield* Effect.fromResult(Result.map(wrong, Arr.of))
    const usable = Arr.getSuccesses(all)
    return Arr.isArrayNonEmpty(usable) ? usable : yield* Effect.fromResult(Result.map(all[0], Arr.of))
  })

  /** Validates and prices a request, before any money is held. */
  const plan = Effect.fnUntraced(function* ({ asked, ...ask }: ParsedAsk) {
    if (Max.isMax(asked)) return yield* planMax(ask, asked)
    const methods = yield* offered({ ...ask, asked })
    for (const { amount } of methods) yield* checkSendable(amount, bounds)
    const { destination, recipient, ...price } = yield* recipients.choose(
      ask.company.id,
      methods,
      ask.methods
    )
    const fee = yield* feeFor(ask.company, recipient, price.amount)
    return { destination: Recipient.understood(destination, recipient), recipient, fee, ...price }
  })

  const workOf = ({ _tag }: Recipient.Recipient, nowMillis: number) =>
    _tag === "Address"
      ? {
          kind: Withdrawal.payoutKind,
          dueAtMillis: Withdrawal.payoutDueAtMillis(nowMillis, payoutWindowMillis)
        }
      : { kind: Withdrawal.taskKind, dueAtMillis: nowMillis }

  return {
    plan,
    /** Parses a destination into its payment methods, best first. */
    parse: (text: string) => Effect.fromResult(Destination.methods(text, network)),
    /**
     * Repeats the request's checks for a withdrawal that was waiting. Returns the task that now sends the
     * withdrawal, and the current fee and limits.
     */
    again: Effect.fnUntraced(function* (
      by: Limits.Spender & { readonly company: Sender },
      row: Withdrawal.Withdrawal
    ) {
      const askedAtMillis = yield* Clock.currentTimeMillis
      // The operator may have lowered the maximum since.
      yield* Effect.mapError(checkSendable(row.amount, bounds), outOfRange)
      const recipient = yield* recipients.payable(
        by.company.id,
        Destination.stored(row),
        row.amount,
        row.rail
      )
      const fee = yield* feeFor(by.company, recipient, row.amount)
      const { company } = yield* current(by, askedAtMillis)
      yield* mayBegin({ spender: { company }, recipient, withdrawal: row })
      const atMillis = yield* Clock.currentTimeMillis
      return { company, fee, atMillis, work: workOf(recipient, atMillis) }
    }),
    /**
     * Returns the withdrawal, its destination as stored, the payee, the task that sends it, and the limits that
     * it counts against, which are those of `spender`. `askedAtMillis` is when the request began, however often it is tried.
     */
    withdrawal: Effect.fnUntraced(function* ({
      metadata,
      askedAtMillis,
      ...request
    }: ParsedAsk &
      Partial<Cause.Cause> & { readonly metadata: Metadata.Metadata; readonly askedAtMillis: number }) {
      yield* Metadata.check(metadata)
      const { destination, recipient, amount, fee, ...rated } = yield* plan(request)
      const ask = yield* current(request, askedAtMillis)
      if (ask.maxFee !== undefined && Fee.total(fee) > ask.maxFee)
        return yield* new FeeChanged({ fee: Fee.total(fee) })
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
        ...Cause.of(ask),
        ...Rated.of(rated),
        counted: Limit.noted(counts),
        createdAtMillis: nowMillis
      })
      yield* SpendingLimits.check(ask, { ...asked, amount: Withdrawal.held(asked) })
      const waits = yield* mayBegin({ spender: ask, recipient, withdrawal: asked })
      const withdrawal = waits === undefined ? asked : { ...asked, ...waits }
      const work = workOf(recipient, nowMillis)
      return {
        withdrawal,
        destination,
        recipient,
        work,
        counts,
        spender: ask,
        feesRevision: ask.company.feesRevision ?? 0
      }
    })
  }
})
