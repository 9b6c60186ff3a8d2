import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import { fence, type Task, Tasks } from "../ledger/Tasks.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutTask from "./CheckoutTask.ts"
import type { Deposit } from "./Deposit.ts"
import { Invoices } from "./Invoices.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

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
  const tasks = yield* Tasks
  const invoices = yield* Invoices

  /** Nobody is to pay its invoice any more. Refused where that was paid, or is being paid. */
  const close = ({ companyId, invoiceId }: Checkout.Checkout) =>
    invoices.cancel(companyId, invoiceId).pipe(
      Effect.catchTag("InvoiceNotPayable", (refused) => (refused.status === "expired" ? Effect.void : Effect.fail(refused))),
      Effect.catchTag("NotFound", Effect.die)
    )

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
    const arrived = yield* receiving.arrivedFor(checkout.companyId, checkout.id)
    const { received } = arrived
    const status = Checkout.standing(checkout, arrived, atMillis)
    const isMore = status === "underpaid" && received !== checkout.received
    // Whichever was paid closes the other. A payment of that which is under way is credited as well.
    if (status === "paid" && checkout.status !== "paid") yield* Effect.catchTag(close(checkout), "InvoiceNotPayable", () => Effect.void)
    const asking = isMore ? yield* askAgain(checkout, received, atMillis) : undefined
    yield* journal.commit<Checkout.Next>(Checkout.next(checkout, { status, received, asking }, atMillis, { fence: fence(task), isDone }))
  })

  const checkoutOf = Effect.fnUntraced(function* (task: Task, deposit: Deposit | undefined) {
    const [companyId, id] = deposit === undefined ? [task.companyId, task.id] : [deposit.companyId, deposit.checkoutId ?? ""]
    const found = yield* nouns.get(Checkout.noun, companyId, id)
    return Option.getOrUndefined(found)
  })

  const look = Effect.fnUntraced(function* (task: Task, nowMillis: number) {
    const isPayment = task.kind === CheckoutTask.paymentKind
    const deposit = isPayment ? Option.getOrUndefined(yield* receiving.depositById(task.id)) : undefined
    const checkout = isPayment && deposit === undefined ? undefined : yield* checkoutOf(task, deposit)
    // The crash that keeps a checkout from being made leaves its invoice and address, which may be paid: then there is nothing to follow.
    if (checkout === undefined) return yield* Effect.asVoid(tasks.postpone(task, nowMillis + leaseMillis))
    yield* follow(checkout, task, deposit !== undefined && deposit.status !== "pending")
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
    close,
    /** Answers how many tasks were due. */
    step: Effect.gen(function* () {
      return (yield* work(CheckoutTask.paymentKind)) + (yield* work(CheckoutTask.taskKind))
    })
  }
})
