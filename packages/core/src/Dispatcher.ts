import { Clock, Context, Effect, Layer, Option, Redacted, Result, Schedule } from "effect"
import * as Bolt11 from "./Bolt11.ts"
import type { ChainUnavailable } from "./ChainSource.ts"
import type { Deposit } from "./Deposit.ts"
import * as Destination from "./Destination.ts"
import { Entropy } from "./Entropy.ts"
import * as Id from "./Id.ts"
import * as Invoice from "./Invoice.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"
import { LightningReceiver, type NodeUnavailable } from "./LightningReceiver.ts"
import { type FailureReason, LightningSender, type Payment } from "./LightningSender.ts"
import * as Msat from "./Msat.ts"
import * as Payouts from "./Payouts.ts"
import { Policy } from "./Policy.ts"
import * as Recipient from "./Recipient.ts"
import { Recipients } from "./Recipients.ts"
import { Records } from "./Records.ts"
import type { RecipientRefused, RecipientUnreachable } from "./Resolver.ts"
import type { SignerUnavailable } from "./Signer.ts"
import type { SuccessAction } from "./SuccessAction.ts"
import { fence, type Task, Tasks } from "./Tasks.ts"
import * as Withdrawal from "./Withdrawal.ts"
import { Withdrawals } from "./Withdrawals.ts"
import * as Worker from "./Worker.ts"
import * as Zap from "./Zap.ts"

const tasksAtOnce = 16

// Who has forgotten that a payment was never sent waits for the grace, as after a restart.
const maxUnsent = 10_000

const together = { concurrency: tasksAtOnce } as const

// Long enough for the slowest node call, and how long a killed process's work waits for another. Who takes longer loses the claim, and the fence sees
// to it that nothing is done twice.
const minLeaseMillis = 30_000

/** How a task is given back when the store is away: six seconds in all. */
const givingBack = { times: 5, schedule: Schedule.exponential("200 millis") } as const

/** Sends what was confirmed, and follows it until the node has said its final word. */
export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /** Takes every task that is due one step further. Answers how many there were. */
    readonly step: Effect.Effect<number, StoreUnavailable>
    /** The same for those that are not paid with a transaction of ours, and for those that are: neither need wait for the other. */
    readonly stepWithdrawals: Effect.Effect<number, StoreUnavailable>
    readonly stepPayouts: Effect.Effect<number, StoreUnavailable>
  }
>()("core/Dispatcher") {}

const reasons: Record<FailureReason, Withdrawal.Failure> = {
  timeout: "timeout",
  no_route: "no_route",
  error: "node_error",
  incorrect_payment_details: "incorrect_payment_details",
  insufficient_balance: "insufficient_liquidity",
  canceled: "canceled"
}

type Next = Payouts.Next

/** A task and since when it is ours. */
interface Claim extends Task {
  readonly atMillis: number
}

type Outage = StoreUnavailable | NodeUnavailable | ChainUnavailable | SignerUnavailable

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* Records
  const tasks = yield* Tasks
  const recipients = yield* Recipients
  const receiver = yield* LightningReceiver
  const sender = yield* LightningSender
  const policy = yield* Policy
  const entropy = yield* Entropy

  const now = Clock.currentTimeMillis

  // Nothing but time stops a call to the node. It is made in the first half of a claim, and the second half is longer than it may be under way:
  // whoever has the next claim comes after it.
  const leaseMillis = Math.max(minLeaseMillis, 2 * sender.graceMillis)

  // Withdrawals of which no call has reached the node or ever will, with the claim under which that is so. Who claims the task next knows that nobody called
  // in between, and need not wait for the grace.
  const unsent = new Map<string, number>()

  const later = (task: Task): number => {
    const { minimum, maximum } = policy.trackMillis
    return Math.min(maximum, minimum * 2 ** Math.min(task.attempts - 1, 20))
  }

  /** Somebody else has the task, or ended the withdrawal: it is theirs. */
  const overtaken = () => Effect.succeed<Next>("done")

  const fail = Effect.fnUntraced(
    function* (withdrawal: Withdrawal.Withdrawal, failure: Withdrawal.Failure, task: Task) {
      yield* journal.commit(Withdrawal.failed(withdrawal, failure, fence(task), yield* now))
      return "done" as const
    },
    Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
  )

  const settle = Effect.fnUntraced(
    function* (withdrawal: Withdrawal.Withdrawal, settlement: Withdrawal.Settlement, task: Task) {
      if (settlement.networkFee > withdrawal.networkAllowance) {
        yield* Effect.logError("the network took more than it was allowed; the operator bears it", { withdrawalId: withdrawal.id })
      }
      yield* journal.commit(Withdrawal.settled(withdrawal, settlement, fence(task), yield* now))
      return "done" as const
    },
    Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
  )

  const payouts = yield* Payouts.make(settle)

  /** What the node's answer means. Only its final word ends anything: `pending` and `unknown` are asked about again. */
  const conclude = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    paymentHash: string,
    payment: Payment,
    task: Task
  ): Effect.fn.Return<Next, Outage> {
    switch (payment._tag) {
      case "settled":
        if (Withdrawal.proves(payment.preimage, paymentHash)) {
          return yield* settle(
            withdrawal,
            { preimage: payment.preimage, chainTxId: null, networkFee: payment.fee, paymentIndex: payment.index },
            task
          ).pipe(Effect.catchTag("Conflict", Effect.die))
        }
        yield* Effect.logError("the node calls a payment settled and has no proof of it; it stays pending", { withdrawalId: withdrawal.id })
        return "later"
      case "failed":
        return yield* fail(withdrawal, reasons[payment.reason], task)
      case "pending":
      case "unknown":
        return "later"
    }
  })

  const pay = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    invoice: Bolt11.Bolt11,
    task: Claim
  ): Effect.fn.Return<Next, Outage> {
    // We slept: somebody else may have the task by now, and may have seen this payment fail and given the money back.
    if ((yield* now) > task.atMillis + leaseMillis / 2) return "later"
    unsent.delete(withdrawal.id)
    const payment = yield* sender.pay({ invoice, amount: withdrawal.amount, feeLimit: withdrawal.networkAllowance }).pipe(
      // A call that broke has been made all the same.
      Effect.catchCause((cause) => Effect.as(Effect.logError("a node broke its promise to answer", cause), { _tag: "unknown" } as const))
    )
    if (payment._tag === "notSent") {
      for (const oldest of unsent.keys()) if (unsent.size >= maxUnsent) unsent.delete(oldest)
      unsent.set(withdrawal.id, task.token)
      return "later"
    }
    // The call may still be under way. Until it cannot be, that the node does not know the payment would be no reason to call again.
    if (payment._tag === "unknown") return { millis: Math.max(later(task), sender.graceMillis) }
    return yield* conclude(withdrawal, invoice.paymentHash, payment, task)
  })

  /** The hash is stored, and only then the node is called: whoever finds this withdrawal later knows what to ask about. */
  const sendInvoice = (
    withdrawal: Withdrawal.Withdrawal,
    invoice: Bolt11.Bolt11,
    successAction: SuccessAction | null,
    task: Claim
  ): Effect.Effect<Next, Outage> =>
    Effect.gen(function* () {
      const atMillis = yield* now
      const payable = Recipient.checkBolt11(invoice, policy, atMillis)
      if (Result.isFailure(payable)) {
        return yield* fail(withdrawal, payable.failure.code === "invoice_expired" ? "invoice_expired" : "invoice_not_payable", task)
      }
      const { paymentHash, paymentRequest } = invoice
      const attempt: Withdrawal.Attempt = { _tag: "Lightning", paymentHash, paymentRequest, successAction }
      yield* journal.commit(Withdrawal.dispatched(withdrawal, attempt, fence(task), atMillis))
      return yield* pay(withdrawal, invoice, task)
    }).pipe(
      Effect.catchTags({
        PaymentHashTaken: () => fail(withdrawal, "payment_hash_used", task),
        StaleFence: overtaken,
        AlreadyTerminal: overtaken,
        Conflict: overtaken, // it pays another invoice
        CoinTaken: Effect.die
      })
    )

  const depositFor = (withdrawal: Withdrawal.Withdrawal, companyId: string, invoiceId: string | null, atMillis: number): Deposit => ({
    id: Id.fromMillis(atMillis, entropy),
    companyId,
    ledgerTxId: withdrawal.ledgerTxId,
    recipient: withdrawal.recipient,
    amount: withdrawal.amount,
    network: withdrawal.network,
    rail: withdrawal.rail,
    status: "settled",
    chainTxId: null,
    vout: null,
    height: null,
    lightningInvoiceId: invoiceId,
    absorbed: Msat.zero,
    revision: 0,
    createdAtMillis: atMillis,
    updatedAtMillis: atMillis
  })

  /** Inside the ledger, to an address of one of our companies. */
  const transfer = Effect.fnUntraced(
    function* (withdrawal: Withdrawal.Withdrawal, companyId: string, lightningAddressId: string | null, task: Task) {
      const atMillis = yield* now
      const deposit = depositFor(withdrawal, companyId, null, atMillis)
      yield* journal.commit(
        Withdrawal.transferred(withdrawal, { deposit, invoice: null, preimage: null, lightningAddressId }, fence(task), atMillis)
      )
      return "done" as const
    },
    Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken, InvoiceNotPayable: Effect.die })
  )

  /** Inside the ledger, for an invoice of one of our companies: it is claimed, then closed at the node, and only then paid. */
  const transferForInvoice = (withdrawal: Withdrawal.Withdrawal, invoice: Invoice.Invoice, task: Task): Effect.Effect<Next, Outage> =>
    Effect.gen(function* () {
      const atMillis = yield* now
      const mine = invoice.status === "claimed" && invoice.claimedBy === withdrawal.id
      if (!mine && (invoice.status === "expired" || invoice.expiresAtMillis <= atMillis))
        return yield* fail(withdrawal, "invoice_expired", task)
      yield* journal.commit({ ...Invoice.claimed(invoice, withdrawal.id, fence(task), atMillis), ...Zap.work(invoice, atMillis) })
      const canceled = yield* receiver.cancelInvoice(invoice.paymentHash)
      // Somebody outside was faster: their payment is what the invoice gets.
      if (canceled._tag !== "canceled") return yield* fail(withdrawal, "invoice_not_payable", task)
      yield* journal.commit(
        Withdrawal.transferred(
          withdrawal,
          {
            deposit: depositFor(withdrawal, invoice.companyId, invoice.id, atMillis),
            invoice: { id: invoice.id, paymentHash: invoice.paymentHash, paymentRequest: invoice.paymentRequest },
            preimage: Redacted.value(canceled.preimage), // the invoice is paid with this Change: what proves it is a secret no more
            lightningAddressId: invoice.lightningAddressId
          },
          fence(task),
          atMillis
        )
      )
      return "done" as const
    }).pipe(
      Effect.catchTags({
        InvoiceNotPayable: () => fail(withdrawal, "invoice_not_payable", task),
        StaleFence: overtaken,
        AlreadyTerminal: overtaken
      })
    )

  const trackLightning = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    paymentHash: string,
    dispatchedAtMillis: number,
    task: Claim
  ) {
    const isUnsent = unsent.get(withdrawal.id) === task.token - 1
    if (isUnsent) unsent.set(withdrawal.id, task.token)
    const payment = yield* sender.lookupPayment(paymentHash)
    if (payment._tag !== "notFound") return yield* conclude(withdrawal, paymentHash, payment, task)
    // The node never heard of it. That is no failure: a call by a process that died may still be on its way. Once none can be, we send it; the node pays a hash once.
    const waitMillis = isUnsent ? 0 : dispatchedAtMillis + sender.graceMillis - (yield* now)
    if (waitMillis > 0) return { millis: waitMillis }
    const invoice = yield* Effect.orDie(Effect.fromResult(Bolt11.decode(withdrawal.paymentRequest ?? "")))
    return yield* pay(withdrawal, invoice, task)
  })

  /** Who is paid by a fresh invoice of whoever made this offer. It may be one of our own: then the way is inside. */
  const accept = Effect.fnUntraced(function* (found: Extract<Recipient.Recipient, { readonly _tag: "Offer" }>, amount: Msat.Msat) {
    yield* Effect.fromResult(Recipient.check(found, amount, policy, yield* now))
    const { bolt11, successAction } = yield* recipients.invoice(found.offer, amount)
    return { recipient: yield* recipients.find({ _tag: "LightningInvoice", invoice: bolt11 }), successAction }
  })

  /** The first step of a withdrawal: whom does it go to? */
  const begin = (withdrawal: Withdrawal.Withdrawal, task: Claim): Effect.Effect<Next | Payouts.Ready, Outage> =>
    Effect.gen(function* (): Effect.fn.Return<
      Next | Payouts.Ready,
      Outage | Recipient.DestinationRefused | RecipientRefused | RecipientUnreachable
    > {
      const destination = yield* Effect.orDie(Effect.fromResult(Destination.parse(withdrawal.recipient, withdrawal.network)))
      const found = yield* recipients.find(destination)
      const { recipient, successAction } =
        found._tag === "Offer" ? yield* accept(found, withdrawal.amount) : { recipient: found, successAction: null }
      switch (recipient._tag) {
        case "OwnInvoice":
          return yield* transferForInvoice(withdrawal, recipient.invoice, task)
        case "OwnLightningAddress":
          return yield* transfer(withdrawal, recipient.lightningAddress.companyId, recipient.lightningAddress.id, task)
        case "OwnChainAddress":
          return yield* transfer(withdrawal, recipient.onChainAddress.companyId, null, task)
        case "Invoice":
          return yield* sendInvoice(withdrawal, recipient.bolt11, successAction, task)
        case "Address":
          return { withdrawal, scriptPubKey: recipient.address.scriptPubKey, task }
        case "Offer":
          return yield* Effect.die("an invoice is no offer")
      }
    }).pipe(
      Effect.catchTags({
        DestinationRefused: () => fail(withdrawal, "recipient_refused", task),
        RecipientRefused: () => fail(withdrawal, "recipient_refused", task),
        // Nothing was sent yet, so giving up is safe; but a server may come back, so not at once.
        RecipientUnreachable: () =>
          Effect.flatMap(now, (atMillis) =>
            atMillis - withdrawal.createdAtMillis > policy.resolveForMillis
              ? fail(withdrawal, "recipient_unreachable", task)
              : Effect.succeed<Next>("later")
          )
      })
    )

  const advance = Effect.fnUntraced(function* (
    withdrawal: Withdrawal.Withdrawal,
    task: Claim
  ): Effect.fn.Return<Next | Payouts.Ready, Outage> {
    const { status, paymentHash, chainTxId, dispatchedAtMillis } = withdrawal
    if (status !== "pending") return "done"
    if (dispatchedAtMillis === null) return yield* begin(withdrawal, task)
    if (paymentHash !== null) return yield* trackLightning(withdrawal, paymentHash, dispatchedAtMillis, task)
    if (chainTxId !== null) return yield* payouts.track(withdrawal, dispatchedAtMillis, task)
    return yield* Effect.die("dispatched, and nothing says what")
  })

  const giveBack = Effect.fnUntraced(function* (task: Task, next: Next) {
    if (next !== "done") yield* tasks.postpone(task, (yield* now) + (next === "later" ? later(task) : next.millis))
  })

  /** Whatever goes wrong, the withdrawals stay as they are, and are looked at again. */
  const insistent = <A, E>(effect: Effect.Effect<A, E>, claims: ReadonlyArray<Task>) =>
    Effect.asSome(effect).pipe(
      Effect.catchCause((cause) =>
        Effect.logError("a withdrawal could not be taken further; it is tried again", cause).pipe(
          // A store that is away for a moment costs the withdrawal that moment, not the rest of our claim.
          Effect.andThen(Effect.forEach(claims, (task) => Effect.ignore(Effect.retry(giveBack(task, "later"), givingBack)), together)),
          Effect.as(Option.none<A>())
        )
      ),
      Effect.annotateLogs({ withdrawalId: claims.map(({ id }) => id).join(" ") })
    )

  /** One step of one task; or it is ready to be paid on the chain, which may be done together with others. */
  const work = Effect.fnUntraced(function* (task: Claim) {
    const found = yield* records.withdrawal(task.companyId, task.id)
    const next = found._tag === "Some" ? yield* advance(found.value, task) : "done"
    if (typeof next === "object" && "withdrawal" in next) return [next]
    yield* giveBack(task, next)
    return []
  })

  /** Where something breaks, each is tried by itself: only the one that it is about waits for a person. */
  const sendOnChain = (batch: ReadonlyArray<Payouts.Ready>): Effect.Effect<unknown> => {
    const sent = Effect.flatMap(payouts.send(batch), (all) => Effect.forEach(all, ([{ task }, next]) => giveBack(task, next), together))
    const apart = (defect: unknown) =>
      Effect.andThen(
        Effect.logError("payouts cannot go out together; each is tried by itself", defect),
        Effect.forEach(batch, (one) => sendOnChain([one]), together)
      )
    return insistent(
      batch.length === 1 ? sent : Effect.catchDefect(sent, apart),
      batch.map(({ task }) => task)
    )
  }

  const stepOf = Effect.fnUntraced(function* (kind: string, limit: number) {
    const atMillis = yield* now
    const claimed = yield* tasks.claim({ kind, nowMillis: atMillis, leaseMillis, limit })
    const ready = yield* Effect.forEach(claimed, (task) => insistent(work({ ...task, atMillis }), [task]), together)
    const batches = Payouts.batches(ready.flatMap(Option.toArray).flat(), policy)
    yield* Effect.forEach(batches, sendOnChain, together)
    return claimed.length
  })

  const stepWithdrawals = stepOf(Withdrawal.taskKind, tasksAtOnce)
  const stepPayouts = stepOf(Withdrawal.payoutKind, Math.max(tasksAtOnce, policy.payoutOutputs))
  return Dispatcher.of({
    step: Effect.zipWith(stepWithdrawals, stepPayouts, (withdrawals, payouts) => withdrawals + payouts),
    stepWithdrawals,
    stepPayouts
  })
})

export const layer = Layer.effect(Dispatcher, make)

/** Sends for as long as the scope is open: at once what this process confirms, within a moment what another one left, and payouts once they are due. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const dispatcher = yield* Dispatcher
    const withdrawals = yield* Withdrawals
    const { trackMillis } = yield* Policy
    const moment = Effect.sleep(trackMillis.minimum)
    const all = (step: Effect.Effect<number, StoreUnavailable>) => Effect.repeat(step, { while: (claimed) => claimed >= tasksAtOnce })
    yield* Worker.run("withdrawals", all(dispatcher.stepWithdrawals), Effect.race(withdrawals.confirmed, moment))
    yield* Worker.run("payouts", all(dispatcher.stepPayouts), moment)
  })
)
