import { Clock, Context, Effect, Layer } from "effect"
import * as Worker from "../base/Worker.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import { Wakes } from "../ledger/Wakes.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { holdTask } from "./Invoice.ts"
import * as Looking from "./Looking.ts"
import * as LookUps from "./LookUps.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

const tasksAtOnce = 20
// Longer than a node is waited for, twice.
const leaseMillis = 120_000

/** Looks after hold invoices, from their creation until the node has said its final word. */
export class Holds extends Context.Service<
  Holds,
  {
    /**
     * Looks up those that are due, and answers how many those were: notices what is held, tells the node what their companies decided, and sends back what nobody
     * settled in time. Any number of processes may do it: each invoice is one's at a time.
     */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/receiving/Holds") {}

export const make = Effect.gen(function* () {
  const tasks = yield* Tasks
  const records = yield* ReceivingReads
  const { look } = yield* Looking.make

  const work = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.invoice(task.companyId, task.id)
    if (found._tag === "None") return yield* Effect.die(`a hold invoice that is not there: ${task.id}`)
    const nowMillis = yield* Clock.currentTimeMillis
    const again = tasks.postpone(task, nowMillis + LookUps.holdAgainMillis(found.value, nowMillis))
    // A node that is away is asked again as soon: the job is there until the invoice has ended.
    yield* look(found.value).pipe(
      Effect.catchTag("NodeUnavailable", (outage) => Effect.logInfo("hold invoice: the node is away; will look again", outage)),
      Effect.ensuring(Effect.ignore(again))
    )
  })

  return Holds.of({
    step: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const claimed = yield* tasks.claim({ kind: holdTask, nowMillis, leaseMillis, limit: tasksAtOnce })
      yield* Effect.forEach(
        claimed,
        (task) =>
          work(task).pipe(
            Effect.catchCause((cause) => Effect.logError("hold invoice: could not be looked at; will retry", cause)),
            Effect.annotateLogs({ invoiceId: task.id })
          ),
        { concurrency: tasksAtOnce, discard: true }
      )
      return claimed.length
    })
  })
})

export const layer = Layer.effect(Holds, make)

/** Looks after them for as long as the scope is open, where the node holds payments. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { step } = yield* Holds
    const { holding } = yield* LightningReceiver
    if (holding === undefined) return
    yield* Worker.run(
      "hold invoices",
      Effect.repeat(step, { while: (claimed) => claimed === tasksAtOnce }),
      yield* (yield* Wakes).listen(holdTask)
    )
  })
)
