import { Clock, Effect } from "effect"
import type * as Change from "../../ledger/Change.ts"
import { Journal } from "../../ledger/Journal.ts"
import type { Task } from "../../ledger/Tasks.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { Invoices } from "../../receiving/Invoices.ts"
import { CheckoutReads } from "./CheckoutReads.ts"

/** How often a checkout that moves while it is canceled is looked at again. */
const maxTries = 20
/** In these it was moved, and can be canceled or is. */
const isMoved: ReadonlySet<string> = new Set(["open", "underpaid", "canceled"])

/** Closes the invoices of checkouts, and cancels checkouts. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const reads = yield* CheckoutReads
  const invoices = yield* Invoices

  /** Nobody is to pay its invoice any more. Refused where that was paid, or is being paid. `next` begins in the commit that cancels it. */
  const close = ({ companyId, invoiceId }: Checkout.Checkout, next?: (atMillis: number) => Change.Enqueue) =>
    invoices.cancel(companyId, invoiceId, next).pipe(
      Effect.catchTag("InvoiceNotPayable", (refused) => (refused.status === "expired" ? Effect.void : Effect.fail(refused))),
      Effect.catchTag("NotFound", Effect.die)
    )

  const standing = Effect.fnUntraced(function* (checkout: Checkout.Checkout) {
    const arrived = yield* reads.arrivedFor(checkout.companyId, checkout.id)
    return Checkout.standing(checkout, arrived, yield* Clock.currentTimeMillis)
  })

  const cancel = Effect.fnUntraced(function* <E, R>(find: Effect.Effect<Checkout.Checkout, E, R>) {
    const checkout = yield* find
    const { id, invoiceId } = checkout
    const status = yield* standing(checkout)
    if (status === "canceled") return
    if (status !== "open" && status !== "underpaid") return yield* new Checkout.CheckoutNotOpen({ id, status })
    // First its invoice: should that be paid at this moment, it is not canceled. From that commit on a job cancels it, whatever becomes of this process.
    yield* Effect.catchTag(
      close(checkout, (atMillis) => CheckoutJobs.cancels(invoiceId, atMillis)),
      "InvoiceNotPayable",
      () => Effect.fail(new Checkout.CheckoutNotOpen({ id, status: "being paid" }))
    )
    yield* journal.commit(Checkout.canceled(checkout, yield* Clock.currentTimeMillis))
  })

  return {
    close,
    /** Cancels what is found. A part of it may be paid at the same time, or the job of a process that died may cancel it: it is looked at again. */
    cancel: <E, R>(find: Effect.Effect<Checkout.Checkout, E, R>) =>
      Effect.retry(cancel(find), {
        times: maxTries,
        while: (error) => error instanceof Checkout.CheckoutNotOpen && isMoved.has(error.status)
      }),
    /** Whether this is the job of a checkout whose invoice was canceled for it to be canceled, and it is not yet. */
    isToBeCanceled: Effect.fnUntraced(function* (checkout: Checkout.Checkout, task: Task) {
      if (task.kind !== CheckoutJobs.cancelKind || task.id !== checkout.invoiceId) return false
      const status = yield* standing(checkout)
      return status === "open" || status === "underpaid"
    })
  }
})
