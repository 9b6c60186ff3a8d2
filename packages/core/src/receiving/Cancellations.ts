import { Context, Effect, Layer } from "effect"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import * as TaskBatch from "../ledger/TaskBatch.ts"
import { fence, type Task, Tasks } from "../ledger/Tasks.ts"
import * as Invoice from "./Invoice.ts"
import * as InvoiceLookup from "./InvoiceLookup.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

// More than twice the node timeout.
const leaseMillis = 120_000

/** Delay before a node is asked again. It may be away, hold a payment in flight, or be unable to cancel. */
const laterMillis = (attempts: number): number => Math.min(60_000, 1000 * 2 ** Math.min(attempts, 6))

/** Cancels invoices at the node after the decision to cancel them was committed. */
export class Cancellations extends Context.Service<
  Cancellations,
  {
    /**
     * Cancels the invoices that are due, and returns how many there were. An invoice that is being paid internally is
     * canceled once that payment has failed. A payment that the node received first is credited. Any number of
     * processes may run this.
     */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/receiving/Cancellations") {}

export const make = Effect.gen(function* () {
  const [journal, tasks, records] = [yield* Journal, yield* Tasks, yield* ReceivingReads]
  const { lookUp } = yield* InvoiceLookup.make

  const read = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.invoice(task.companyId, task.id)
    return found._tag === "None" ? yield* Effect.die(`invoice to cancel not found: ${task.id}`) : found.value
  })

  const cancel = Effect.fnUntraced(function* (task: Task, nowMillis: number) {
    const before = yield* read(task)
    if (before.status === "pending")
      yield* Effect.catchTag(
        journal.commit(Invoice.canceled(before, nowMillis)),
        "InvoiceNotPayable",
        () => Effect.void
      )
    const invoice = yield* read(task)
    if (invoice.status === "canceling") yield* lookUp(invoice)
    const { status } = yield* read(task)
    if (status === "pending" || status === "claimed" || status === "canceling") return
    yield* journal.commit(Invoice.cancellationEnded(invoice, fence(task), nowMillis))
  })

  const work = (task: Task, nowMillis: number) =>
    cancel(task, nowMillis).pipe(
      Effect.catchTags({
        NodeUnavailable: (outage) =>
          Effect.logInfo("invoice: cannot be canceled, the node is unavailable; will retry", outage),
        StaleFence: () => Effect.void
      }),
      // Has no effect if the job is complete.
      Effect.ensuring(Effect.ignore(tasks.postpone(task, nowMillis + laterMillis(task.attempts))))
    )

  return Cancellations.of({
    step: TaskBatch.step(tasks, {
      kind: Invoice.cancelTask,
      work,
      failure: "invoice: cancellation failed; will retry",
      idAs: "invoiceId",
      leaseMillis
    })
  })
})

export const layer = Layer.effect(Cancellations, make)

/** Cancels invoices while the scope is open. */
export const layerWorker = TaskBatch.layerWorker("invoice cancellations", Cancellations, [Invoice.cancelTask])
