import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option } from "effect"
import { Journal } from "../../ledger/Journal.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import { fence, type Task, Tasks } from "../../ledger/Tasks.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { Invoices } from "../../receiving/Invoices.ts"
import { CheckoutReads } from "./CheckoutReads.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"

/** How many are looked at at once, and in a step of each kind. */
export const tasksAtOnce = 20
const leaseMillis = 60_000

/** When a payment that is on its way is looked at again. Pages look for themselves. */
const laterMillis = (attempts: number): number => Math.min(10_000, 1000 * 2 ** Math.min(attempts, 4))

/** An invoice for the rest is open for so long at least, in seconds. */
const leastSeconds = 60

/** Has checkouts follow what is paid, and the time. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const receiving = yield* ReceivingReads
  const reads = yield* CheckoutReads
  const tasks = yield* Tasks
  const invoices = yield* Invoices
  const { close, isToBeCanceled } = yield* CheckoutCancel.make

  /** Another invoice for what is left. The one before can be paid until it is closed: it is closed first. */
  const askAgain = Effect.fnUntraced(function* (checkout: Checkout.Checkout, received: Msat.Msat, atMillis: number) {
    yield* Effect.catchTag(close(checkout), "InvoiceNotPayable", (refused) =>
      refused.status === "settled" ? Effect.void : Effect.fail(refused)
    )
    const seconds = Math.max(leastSeconds, Math.ceil((checkout.expiresAtMillis - atMillis) / 1000))
    const { companyId, description, metadata, rate, rateAtMillis } = checkout
    const asking = yield* invoices.issue({
      companyId,
      amount: Checkout.rest(checkout, received),
      minAmount: null,
      maxAmount: null,
      memo: description,
      description: { _tag: "Text", text: description },
      expirySeconds: seconds,
      metadata,
      lightningAddressId: null,
      apiKeyId: null,
      callback: null,
      rate,
      rateAtMillis,
      checkoutId: checkout.id
    })
    return asking._tag === "Made" ? { invoiceId: asking.value.id, paymentRequest: asking.value.paymentRequest } : undefined
  })

  /** Brings a checkout to where it stands by now. `isDone`: nothing more is to come of this job. */
  const follow = Effect.fnUntraced(function* (checkout: Checkout.Checkout, task: Task, isDone: boolean) {
    const atMillis = yield* Clock.currentTimeMillis
    const arrived = yield* reads.arrivedFor(checkout.companyId, checkout.id)
    const { received } = arrived
    const status = Checkout.standing(checkout, arrived, atMillis)
    const isMore = status === "underpaid" && received !== checkout.received
    // Whichever was paid closes the other. A payment of that which is under way is credited as well.
    if (status === "paid" && checkout.status !== "paid") yield* Effect.catchTag(close(checkout), "InvoiceNotPayable", () => Effect.void)
    const asking = isMore ? yield* askAgain(checkout, received, atMillis) : undefined
    yield* journal.commit<Checkout.Next>(Checkout.next(checkout, { status, received, asking }, atMillis, { fence: fence(task), isDone }))
  })

  /** Which checkout a job is about, and whether nothing more is to come of the job once that was looked at. */
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
    // The crash that keeps a checkout from being made leaves its invoice and address, which may be paid: then there is nothing to follow.
    if (checkout === undefined) return yield* Effect.asVoid(tasks.postpone(task, nowMillis + leaseMillis))
    if (yield* isToBeCanceled(checkout, task)) return yield* Effect.asVoid(journal.commit(Checkout.canceled(checkout, nowMillis)))
    yield* follow(checkout, task, isDone)
    yield* tasks.postpone(task, nowMillis + laterMillis(task.attempts))
  })

  const later = (task: Task, nowMillis: number) => Effect.ignore(tasks.postpone(task, nowMillis + laterMillis(task.attempts)))

  const work = Effect.fnUntraced(function* (kind: string) {
    const nowMillis = yield* Clock.currentTimeMillis
    const claimed = yield* tasks.claim({ kind, nowMillis, leaseMillis, limit: tasksAtOnce })
    yield* Effect.forEach(
      claimed,
      (task) =>
        look(task, nowMillis).pipe(
          // Another payment of it, or another process, was first; or nothing is to be asked for now.
          Effect.catchTags({
            CheckoutNotOpen: () => later(task, nowMillis),
            InvoiceNotPayable: () => later(task, nowMillis),
            Paused: () => later(task, nowMillis),
            StaleFence: () => Effect.void
          }),
          Effect.catchCause((cause) =>
            Effect.andThen(Effect.logError("checkout: could not follow; will retry", cause), later(task, nowMillis))
          ),
          Effect.annotateLogs({ taskId: task.id })
        ),
      { concurrency: tasksAtOnce, discard: true }
    )
    return claimed.length
  })

  return {
    /** Answers how many tasks were due. */
    step: Effect.gen(function* () {
      let due = 0
      for (const kind of CheckoutJobs.kinds) due += yield* work(kind)
      return due
    })
  }
})
