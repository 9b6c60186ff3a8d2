import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Schema, type Scope } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type * as Fee from "../accounts/Fee.ts"
import type { FeeChanged } from "../accounts/Fees.ts"
import { type Paused, Stops } from "../accounts/Stops.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Throttle from "../base/Throttle.ts"
import type * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import type { InsufficientBalance } from "../ledger/Balance.ts"
import { type Conflict, type IdempotencyMismatch, Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import type { CompanyFrozen } from "../ledger/Freeze.ts"
import type * as Limit from "../ledger/Limit.ts"
import * as Shortage from "../ledger/Shortage.ts"
import type { Task } from "../ledger/Tasks.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import * as OfferSender from "../nodes/OfferSender.ts"
import * as Destination from "./Destination.ts"
import * as ConfirmedCache from "./ConfirmedCache.ts"
import * as Handover from "./Handover.ts"
import * as Max from "./Max.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as FeeRetry from "./FeeRetry.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as SpendingLimits from "./SpendingLimits.ts"
import * as Withdrawal from "./Withdrawal.ts"
import type { Ask, ParsedAsk, Refused } from "./WithdrawalDrafts.ts"
import * as WithdrawalDrafts from "./WithdrawalDrafts.ts"

/** Estimate of a withdrawal. Nothing is held, and no payment is tried. */
export interface Estimate {
  readonly recipient: string
  readonly recipientType: Destination.RecipientType
  /**
   * The payment method in the domain's DNS record (BIP 353), if the recipient is a name with such a record.
   */
  readonly instructed?: Destination.Destination
  readonly amount: Msat.Msat
  /** The fee charged on top of the amount. */
  readonly fee: Fee.Fee
  /**
   * Between 0 and 1. It is 1 for internal and on-chain payments, the best route's probability for Lightning,
   * and 0 if there is no route.
   */
  readonly successProbability: number
}

/**
 * Too many estimates called payees' servers. Each estimate sends two requests to such a server and causes it to
 * create an invoice, but holds no money and requires only a read key. Without a limit, a company could use this
 * service to flood a stranger's server.
 */
export class TooManyEstimates extends Schema.TaggedError<TooManyEstimates>()("TooManyEstimates", {
  /** The limit that was exceeded: the company's, or that of the payee's server. */
  of: Schema.Literals(["company", "host"]),
  perMinute: Schema.Int
}) {}

/** Sends payments. */
export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    /** Runs all checks of `confirm` except the balance check, and returns the costs. Checks the balance for a `Max`. */
    readonly estimate: (
      ask: Ask
    ) => Effect.Effect<Estimate, Refused | NodeUnavailable | TooManyEstimates | InsufficientBalance>
    /**
     * Holds the amount and the fee, and records the withdrawal with its sending task, in one commit. A worker
     * then sends the payment. If a hook makes the withdrawal wait (see WithdrawalHooks), there is no task until
     * it may start.
     */
    readonly confirm: (
      ask: Ask & {
        readonly metadata: Metadata.Metadata
        readonly request?: Answer.Request<Withdrawal.Withdrawal>
      }
    ) => Effect.Effect<
      Answer.Outcome<Withdrawal.Withdrawal>,
      | Refused
      | FeeChanged
      | InsufficientBalance
      | Limit.LimitExceeded
      | CompanyFrozen
      | Paused
      | Conflict
      | IdempotencyMismatch
    >
    /**
     * Returns a task's withdrawal with its destination, if this process confirmed the withdrawal and no process
     * has claimed the task before. Each withdrawal is returned once.
     */
    readonly confirmed: (task: Task) => ConfirmedCache.Confirmed | undefined
    /**
     * While the scope is open, hands this process's confirmed withdrawals to the worker, if paying them only
     * moves money in the ledger.
     */
    readonly handOver: (to: Handover.Worker) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@satrail/core/sending/Withdrawals") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const retryOnFeeChange = FeeRetry.retryOnFeeChange(accounts)
  const stops = yield* Stops
  const recipients = yield* Recipients
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available
  const drafts = yield* WithdrawalDrafts.make
  const handover = yield* Handover.make
  const confirmed = ConfirmedCache.make()
  const { estimates } = yield* PaymentOptions
  const mayAsk = { company: Throttle.make(estimates.perCompany), host: Throttle.make(estimates.perHost) }

  /** Checks that another estimate may call the payee's server, if there is one. */
  const checkOften = Effect.fnUntraced(function* ({ company, methods }: ParsedAsk) {
    const [host] = (yield* Effect.forEach(methods, recipients.host)).filter((one) => one !== undefined)
    if (host === undefined) return
    const nowMillis = yield* Clock.currentTimeMillis
    const { perCompany, perHost } = estimates
    if (!mayAsk.company(company.id, nowMillis))
      return yield* new TooManyEstimates({ of: "company", perMinute: Throttle.inAMinute(perCompany) })
    if (!mayAsk.host(host, nowMillis))
      return yield* new TooManyEstimates({ of: "host", perMinute: Throttle.inAMinute(perHost) })
  })

  const probability = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    recipient: Recipient.Recipient,
    amount: Msat.Msat,
    feeLimit: Msat.Msat
  ) {
    if (Recipient.isInternal(recipient) || recipient._tag === "Address") return 1
    if (recipient._tag === "Bolt12") {
      return (
        (offers && (yield* offers.quote({ offer: recipient.bolt12, amount, feeLimit })))?.probability ?? 0
      )
    }
    const invoice =
      recipient._tag === "LnurlPay"
        ? (yield* recipients.invoice(recipient.terms, amount, companyId)).bolt11
        : recipient._tag === "Invoice"
          ? recipient.bolt11
          : undefined
    const quote = invoice && (yield* sender.quote({ invoice, amount, feeLimit }))
    return quote?.probability ?? 0
  })

  return Withdrawals.of({
    estimate: Effect.fnUntraced(function* (request) {
      const ask = { ...request, methods: yield* drafts.parse(request.destination) }
      yield* checkOften(ask)
      const { destination, recipient, amount, fee } = yield* drafts.plan(ask)
      return {
        recipient: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        ...(recipient.instructed && { instructed: recipient.instructed }),
        amount,
        fee,
        successProbability: yield* probability(ask.company.id, recipient, amount, fee.network)
      }
    }),
    confirm: Effect.fnUntraced(function* ({ metadata, request, destination: text, ...ask }) {
      const companyId = ask.company.id
      const askedAtMillis = yield* Clock.currentTimeMillis
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      const methods = yield* drafts.parse(text)
      return yield* retryOnFeeChange(ask.company, (company) => {
        const drafted = drafts.withdrawal({ ...ask, company, methods, metadata, askedAtMillis })
        return Effect.flatMap(drafted, ({ spender, ...draft }) => {
          const { withdrawal, recipient, counts, feesRevision } = draft
          // A withdrawal's idempotency key is stored permanently, because a retry may come at any time.
          const once = Answer.once(companyId, request, withdrawal, null)
          const commit = (work: typeof draft.work) =>
            journal.commit(Withdrawal.requested(withdrawal, once, work, counts, feesRevision))
          // A withdrawal that is not pending waits for approval.
          const isPending = Withdrawal.standing(withdrawal) === "pending"
          const committed =
            Recipient.isInLedger(recipient) && isPending
              ? handover.committed(draft, draft.work, commit)
              : Effect.map(commit(draft.work), (applied) => {
                  if (applied._tag === "Applied" && isPending) confirmed.keep(draft)
                  return applied
                })
          const told = Shortage.withBalance(ledger, committed).pipe(
            SpendingLimits.withRemaining(accounts, spender, Withdrawal.held(withdrawal))
          )
          return Effect.map(told, (applied) => Answers.outcome(applied, withdrawal))
        })
      }).pipe(Max.retried(ask.asked), Answers.orEarlier(ledger, companyId, request))
    }),
    confirmed: confirmed.take,
    handOver: handover.serve
  })
})

export const layer = Layer.effect(Withdrawals, make)
