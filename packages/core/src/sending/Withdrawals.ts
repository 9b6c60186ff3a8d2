import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Schema, type Scope } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type * as Fee from "../accounts/Fee.ts"
import type { FeeChanged } from "../accounts/Fees.ts"
import { type Paused, Stops } from "../accounts/Stops.ts"
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
import * as Confirmed from "./Confirmed.ts"
import * as Handover from "./Handover.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as Priced from "./Priced.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import * as Spending from "./Spending.ts"
import * as Withdrawal from "./Withdrawal.ts"
import type { Ask, Refused } from "./WithdrawalDrafts.ts"
import * as WithdrawalDrafts from "./WithdrawalDrafts.ts"

/** What a withdrawal would come to. Nothing is held, and no payment tried. */
export interface Estimate {
  readonly recipient: string
  readonly recipientType: Destination.RecipientType
  /** What the record in its domain's DNS says to pay (BIP 353), where the recipient is a name that has one. */
  readonly instructed?: Destination.Destination
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

/** Sends money out. */
export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    /** Checks everything that `confirm` checks but the balance, and says what it would cost. */
    readonly estimate: (ask: Ask) => Effect.Effect<Estimate, Refused | NodeUnavailable | TooManyEstimates>
    /**
     * Holds amount and fee and records the withdrawal with the job of sending it, in one commit. Sending is a worker's job. A withdrawal that a hook has
     * wait (see WithdrawalHooks) has no job until what it waits for lets it begin.
     */
    readonly confirm: (
      ask: Ask & {
        readonly metadata: Metadata.Metadata
        readonly request?: Answer.Request<Withdrawal.Withdrawal>
      }
    ) => Effect.Effect<
      Answer.Outcome<Withdrawal.Withdrawal>,
      Refused | FeeChanged | InsufficientBalance | Limit.LimitExceeded | CompanyFrozen | Paused | Conflict | IdempotencyMismatch
    >
    /** The withdrawal of a task, where this process confirmed it and nobody had the task before. It is told once. */
    readonly known: (task: Task) => Withdrawal.Withdrawal | undefined
    /** For as long as the scope is open, this worker is handed what this process confirms, where paying it does nothing but move money in the ledger. */
    readonly handOver: (to: Handover.Worker) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@satrail/core/sending/Withdrawals") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const priced = Priced.priced(accounts)
  const stops = yield* Stops
  const recipients = yield* Recipients
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available
  const drafts = yield* WithdrawalDrafts.make
  const handover = yield* Handover.make
  const known = Confirmed.make()
  const { estimates } = yield* PaymentOptions
  const mayAsk = { company: Throttle.make(estimates.perCompany), host: Throttle.make(estimates.perHost) }

  /** Whether another estimate may ask the recipient's server, where there is one to ask. */
  const checkOften = Effect.fnUntraced(function* ({ company, destination: text }: Ask) {
    const host = yield* recipients.host(yield* drafts.parse(text))
    if (host === undefined) return
    const nowMillis = yield* Clock.currentTimeMillis
    const { perCompany, perHost } = estimates
    if (!mayAsk.company(company.id, nowMillis))
      return yield* new TooManyEstimates({ of: "company", perMinute: Throttle.inAMinute(perCompany) })
    if (!mayAsk.host(host, nowMillis)) return yield* new TooManyEstimates({ of: "host", perMinute: Throttle.inAMinute(perHost) })
  })

  const probability = Effect.fnUntraced(function* (recipient: Recipient.Recipient, amount: Msat.Msat, feeLimit: Msat.Msat) {
    if (Recipient.isInternal(recipient) || recipient._tag === "Address") return 1
    if (recipient._tag === "Bolt12") {
      return (offers && (yield* offers.quote({ offer: recipient.bolt12, amount, feeLimit })))?.probability ?? 0
    }
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
      const { destination, recipient, amount, fee } = yield* drafts.plan(ask)
      return {
        recipient: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        ...(recipient.instructed && { instructed: recipient.instructed }),
        amount,
        fee,
        successProbability: yield* probability(recipient, amount, fee.network)
      }
    }),
    confirm: Effect.fnUntraced(function* ({ metadata, request, ...ask }) {
      const companyId = ask.company.id
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      return yield* priced(ask.company, (company) => {
        const spender = { ...ask, company }
        return Effect.flatMap(drafts.withdrawal({ ...spender, metadata, refundId: null }), (draft) => {
          const { withdrawal, recipient, counts, feesRevision } = draft
          // A withdrawal's idempotency key is kept for ever: a retry may come at any time.
          const once = Answer.once(companyId, request, withdrawal, null)
          const commit = (work: typeof draft.work) => journal.commit(Withdrawal.requested(withdrawal, once, work, counts, feesRevision))
          const committed =
            Recipient.isInLedger(recipient) && withdrawal.approval === null
              ? handover.committed(withdrawal, draft.work, commit)
              : Effect.map(commit(draft.work), (applied) => {
                  if (applied._tag === "Applied" && withdrawal.approval === null) known.keep(withdrawal)
                  return applied
                })
          const told = Shortage.told(ledger, committed).pipe(Spending.told(accounts, spender, Withdrawal.held(withdrawal)))
          return Effect.map(told, (applied) => Answers.outcome(applied, withdrawal))
        })
      })
    }),
    known: known.take,
    handOver: handover.serve
  })
})

export const layer = Layer.effect(Withdrawals, make)
