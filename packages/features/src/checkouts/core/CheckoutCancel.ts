import { Clock, Effect } from "effect"
import type * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Checkout from "./Checkout.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { CheckoutReads } from "./CheckoutReads.ts"

/** Maximum number of retries to cancel a checkout that keeps changing. */
const maxTries = 20
/** If a concurrent change gave the checkout one of these statuses, try to cancel it again. */
const isMoved: ReadonlySet<string> = new Set(["open", "underpaid", "canceled"])

/** Cancels checkouts and their invoices. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const reads = yield* CheckoutReads
  const invoices = yield* Invoices

  /**
   * Cancels the checkout's invoice. Fails if the invoice is paid or being paid. The job `next` is enqueued in
   * the same commit.
   */
  const close = (
    { companyId, invoiceId }: Pick<Checkout.Checkout, "companyId" | "invoiceId">,
    next?: (atMillis: number) => Change.Enqueue
  ) =>
    invoices.cancel(companyId, invoiceId, next).pipe(
      Effect.catchTag("InvoiceNotPayable", (refused) =>
        refused.status === "expired" ? Effect.void : Effect.fail(refused)
      ),
      Effect.catchTag("NotFound", Effect.die)
    )

  const standing = Effect.fnUntraced(function* (checkout: Checkout.Checkout) {
    const arrived = yield* reads.arrivedFor(checkout)
    return Checkout.standing(checkout, arrived, yield* Clock.currentTimeMillis)
  })

  const cancel = Effect.fnUntraced(function* <E, R>(find: Effect.Effect<Checkout.Checkout, E, R>) {
    const checkout = yield* find
    const { id, onChainAddressId } = checkout
    const status = yield* standing(checkout)
    if (status === "canceled") return
    if (status !== "open" && status !== "underpaid")
      return yield* new Checkout.CheckoutNotOpen({ id, status })
    // Cancel the invoice first, so that the checkout is not canceled while its invoice is being paid. From that
    // commit on, a job cancels the checkout even if this process dies.
    yield* Effect.catchTag(
      close(checkout, (atMillis) => CheckoutJobs.cancels(onChainAddressId, atMillis)),
      "InvoiceNotPayable",
      () => Effect.fail(new Checkout.CheckoutNotOpen({ id, status: "being paid" }))
    )
    yield* journal.commit(Checkout.canceled(checkout, yield* Clock.currentTimeMillis))
  })

  return {
    close,
    /**
     * Cancels the checkout that `find` returns. Reads it again if a partial payment arrives at the same time,
     * or if the job left by a dead process cancels it first.
     */
    cancel: <E, R>(find: Effect.Effect<Checkout.Checkout, E, R>) =>
      Effect.retry(cancel(find), {
        times: maxTries,
        while: (error) => error instanceof Checkout.CheckoutNotOpen && isMoved.has(error.status)
      })
  }
})
