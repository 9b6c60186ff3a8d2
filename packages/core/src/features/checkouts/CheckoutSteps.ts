import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option } from "effect"
import { Journal } from "../../ledger/Journal.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as TaskBatch from "../../ledger/TaskBatch.ts"
import { fence, type Task, Tasks } from "../../ledger/Tasks.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutAsking from "./CheckoutAsking.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { CheckoutReads } from "./CheckoutReads.ts"
import { InvoiceNotPayable } from "../../receiving/Invoice.ts"
import * as InvoiceLookup from "../../receiving/InvoiceLookup.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"

const leaseMillis = 60_000

/** Delay before a pending payment is checked again. Open checkout pages do their own polling. */
const laterMillis = (attempts: number): number => Math.min(10_000, 1000 * 2 ** Math.min(attempts, 4))

/** Updates checkouts as payments arrive and time passes. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const receiving = yield* ReceivingReads
  const reads = yield* CheckoutReads
  const tasks = yield* Tasks
  const issueRest = yield* CheckoutAsking.make
  const { close, isToBeCanceled } = yield* CheckoutCancel.make
  const { lookUp } = yield* InvoiceLookup.make

  /**
   * Cancels the checkout's invoice unless it is paid. Fails while an internal payment is in progress, which ends soon
   * and may still fail.
   */
  const closeUnpaid = (checkout: Checkout.Checkout) =>
    Effect.catchTag(close(checkout), "InvoiceNotPayable", (refused) => (refused.status === "settled" ? Effect.void : Effect.fail(refused)))

  /**
   * Returns the payments toward a checkout. Looks up its invoice at the node before the checkout expires. The node
   * accepts no payment after the deadline, so one that is not credited yet, such as after an outage, is not late.
   * Fails while such a payment is in flight.
   */
  const arrivedFor = Effect.fnUntraced(function* (checkout: Checkout.Checkout, atMillis: number) {
    const { companyId, invoiceId, status } = checkout
    const arrived = yield* reads.arrivedFor(checkout)
    if (status === "expired" || Checkout.standing(checkout, arrived, atMillis) !== "expired") return arrived
    // An invoice for the rest that was issued shortly before the deadline is valid for longer.
    yield* closeUnpaid(checkout)
    const invoice = Option.getOrUndefined(yield* receiving.invoice(companyId, invoiceId))
    if ((invoice?.status === "pending" || invoice?.status === "canceling") && (yield* lookUp(invoice)))
      return yield* new InvoiceNotPayable({ invoiceId, status: "accepted" })
    return yield* reads.arrivedFor(checkout) // a payment may have been credited since they were read
  })

  /**
   * Issues another invoice for the remaining amount. Cancels the previous one first, because it could still
   * be paid.
   */
  const askAgain = Effect.fnUntraced(function* (checkout: Checkout.Checkout, received: Msat.Msat, atMillis: number) {
    yield* closeUnpaid(checkout)
    return yield* issueRest(checkout, received, atMillis)
  })

  /**
   * Updates the stored status, received amount and invoice of a checkout. If `isDone` is true, the job is completed once
   * the invoice asks for the rest.
   */
  const follow = Effect.fnUntraced(function* (checkout: Checkout.Checkout, task: Task, isDone: boolean) {
    const atMillis = yield* Clock.currentTimeMillis
    const arrived = yield* arrivedFor(checkout, atMillis)
    const { received } = arrived
    const status = Checkout.standing(checkout, arrived, atMillis)
    // After a reorganization, less may be credited than before.
    const isOther = (status === "open" || status === "underpaid") && received !== checkout.received
    // Once the checkout is paid, cancel its invoice. A payment in flight is still credited.
    if (status === "paid" && checkout.status !== "paid") yield* Effect.catchTag(close(checkout), "InvoiceNotPayable", () => Effect.void)
    const asking = isOther ? yield* askAgain(checkout, received, atMillis) : undefined
    // The payment may have been undone while the invoice was issued. It is checked once more before its job is completed.
    const isChecked = isDone && asking === undefined
    const change = Checkout.next(checkout, { status, arrived, asking }, atMillis, { fence: fence(task), isDone: isChecked })
    const isSame = change._tag === "CheckoutCounted" && received === checkout.received
    // A payment may stay pending for days, and each change counts toward `maxChanges`.
    if (!isSame || isChecked) yield* journal.commit<Checkout.Next>(change)
  })

  /** Returns the checkout of a job, and whether the job is complete after this check. */
  const about = Effect.fnUntraced(function* (task: Task) {
    const { kind, id, companyId } = task
    if (kind === CheckoutJobs.expiryKind) return { companyId, id, isDone: false }
    if (kind === CheckoutJobs.cancelKind) {
      const invoice = yield* receiving.invoice(companyId, id)
      return { companyId, id: Option.getOrNull(invoice)?.checkoutId ?? "", isDone: true }
    }
    const deposit = Option.getOrUndefined(yield* receiving.depositById(id))
    return { companyId: deposit?.companyId ?? companyId, id: deposit?.checkoutId ?? "", isDone: deposit?.status !== "pending" }
  })

  const look = Effect.fnUntraced(function* (task: Task, nowMillis: number) {
    const { companyId, id, isDone } = yield* about(task)
    const checkout = Option.getOrUndefined(yield* nouns.get(Checkout.noun, companyId, id))
    // If a process crashed before it stored the checkout, the invoice and address remain. They can still be
    // paid, although there is no checkout to update.
    if (checkout === undefined) return yield* Effect.asVoid(tasks.postpone(task, nowMillis + leaseMillis))
    if (yield* isToBeCanceled(checkout, task)) return yield* Effect.asVoid(journal.commit(Checkout.canceled(checkout, nowMillis)))
    yield* follow(checkout, task, isDone)
    yield* tasks.postpone(task, nowMillis + laterMillis(task.attempts))
  })

  const later = (task: Task, nowMillis: number) => Effect.ignore(tasks.postpone(task, nowMillis + laterMillis(task.attempts)))

  const work = (task: Task, nowMillis: number) =>
    // Another payment or process changed the checkout first, receiving is paused, or the node is unavailable.
    Effect.catchTags(look(task, nowMillis), {
      CheckoutNotOpen: () => later(task, nowMillis),
      InvoiceNotPayable: () => later(task, nowMillis),
      Paused: () => later(task, nowMillis),
      NodeUnavailable: () => later(task, nowMillis),
      StaleFence: () => Effect.void
    })

  return {
    /** Returns the number of tasks that were due. */
    step: Effect.gen(function* () {
      let due = 0
      for (const kind of CheckoutJobs.kinds)
        due += yield* TaskBatch.step(tasks, {
          kind,
          work,
          failure: "checkout: update failed; will retry",
          idAs: "taskId",
          laterMillis,
          leaseMillis
        })
      return due
    })
  }
})
