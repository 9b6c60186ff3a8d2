import { Clock, Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as TaskBatch from "../ledger/TaskBatch.ts"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { holdTask } from "./Invoice.ts"
import * as InvoiceLookup from "./InvoiceLookup.ts"
import * as LookupSchedule from "./LookupSchedule.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

// More than twice the node timeout.
const leaseMillis = 120_000

/** Manages hold invoices from their creation until they are final at the node. */
export class Holds extends Context.Service<
  Holds,
  {
    /**
     * Looks up the invoices that are due, and returns how many there were. Records held payments, sends the
     * companies' decisions to the node, and cancels payments that were not settled in time. Any number of
     * processes may run this. Only one of them processes an invoice at a time.
     */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/receiving/Holds") {}

export const make = Effect.gen(function* () {
  const tasks = yield* Tasks
  const records = yield* ReceivingReads
  const { lookUp } = yield* InvoiceLookup.make

  const work = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.invoice(task.companyId, task.id)
    if (found._tag === "None") return yield* Effect.die(`hold invoice not found: ${task.id}`)
    const nowMillis = yield* Clock.currentTimeMillis
    const again = tasks.postpone(task, nowMillis + LookupSchedule.holdAgainMillis(found.value, nowMillis))
    // While the node is unavailable, retry at the usual interval. The job remains until the invoice is final.
    yield* lookUp(found.value).pipe(
      Effect.catchTag("NodeUnavailable", (outage) =>
        Effect.logInfo("hold invoice: the node is unavailable; will retry", outage)
      ),
      Effect.ensuring(Effect.ignore(again))
    )
  })

  return Holds.of({
    step: TaskBatch.step(tasks, {
      kind: holdTask,
      work,
      failure: "hold invoice: lookup failed; will retry",
      idAs: "invoiceId",
      leaseMillis
    })
  })
})

export const layer = Layer.effect(Holds, make)

/** Manages hold invoices while the scope is open, if the node supports them. */
export const layerWorker = Layer.unwrap(
  Effect.map(LightningReceiver, ({ holding }) =>
    holding === undefined ? Layer.empty : TaskBatch.layerWorker("hold invoices", Holds, [holdTask])
  )
)
