import { Clock, type Context, Effect, Layer } from "effect"
import * as Worker from "../base/Worker.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Task, Tasks } from "./Tasks.ts"
import { Wakes } from "./Wakes.ts"

/** Maximum number of tasks of a kind per step, all processed concurrently. */
const atOnce = 20

/** The tasks of a kind that is processed in batches, because no task waits for long. */
export interface TaskBatch<E> {
  readonly kind: string
  /** Processes a task that was claimed at this time, and completes or postpones it. */
  readonly work: (task: Task, nowMillis: number) => Effect.Effect<unknown, E>
  /** What the log says about a task that failed, and the name of the task's id in the log. */
  readonly failure: string
  readonly idAs: string
  /** Delay after a failure. If absent, the task is due when its claim ends, unless `work` postponed it. */
  readonly laterMillis?: (attempts: number) => number
  readonly leaseMillis?: number
}

/** Processes due tasks, and returns their number. A task that fails is logged and retried. */
export const step = Effect.fnUntraced(function* <E>(
  tasks: Tasks["Service"],
  { kind, work, failure, idAs, laterMillis, leaseMillis = 60_000 }: TaskBatch<E>
): Effect.fn.Return<number, StoreUnavailable> {
  const nowMillis = yield* Clock.currentTimeMillis
  const claimed = yield* tasks.claim({ kind, nowMillis, leaseMillis, limit: atOnce })
  const later = (task: Task) =>
    laterMillis === undefined
      ? Effect.void
      : Effect.ignore(tasks.postpone(task, nowMillis + laterMillis(task.attempts)))
  yield* Effect.forEach(
    claimed,
    (task) =>
      work(task, nowMillis).pipe(
        Effect.catchCause((cause) => Effect.andThen(Effect.logError(failure, cause), later(task))),
        Effect.annotateLogs({ [idAs]: task.id })
      ),
    { concurrency: atOnce, discard: true }
  )
  return claimed.length
})

/** Repeats the step of a service while the scope is open. Waits for tasks of these kinds when there are no more. */
export const layerWorker = <I>(
  name: string,
  service: Context.Key<I, { readonly step: Effect.Effect<number, StoreUnavailable> }>,
  kinds: ReadonlyArray<string>
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { step } = yield* service
      const { listen } = yield* Wakes
      const due = Effect.raceAllFirst(yield* Effect.forEach(kinds, listen))
      yield* Worker.run(name, Effect.repeat(step, { while: (claimed) => claimed >= atOnce }), due)
    })
  )
