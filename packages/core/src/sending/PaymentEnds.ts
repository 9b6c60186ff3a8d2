import { Clock, Effect, Stream } from "effect"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import * as OfferSender from "../nodes/OfferSender.ts"

// A channel carries at most a few hundred payments at a time. Payments beyond this number are only polled.
const maxWatched = 20_000

/**
 * Subscribes to the node's notifications of payments that became final. Makes the task of such a payment due
 * immediately if this process released it.
 */
export const make = Effect.gen(function* () {
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available
  const tasks = yield* Tasks
  /**
   * Tasks held by this process, each with the key by which the node identifies the payment, and whether the
   * payment has been reported as final since.
   */
  const held = new Map<string, { readonly key: string; hasEnded: boolean }>()
  /** Tasks that this process released, keyed by payment, with their last claim. Oldest first. */
  const watched = new Map<string, Task>()

  /**
   * Makes a task due immediately, unless another process has claimed it since. That process receives a
   * notification of its own.
   */
  const wake = (task: Task) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => Effect.asVoid(tasks.postpone(task, nowMillis)))

  const hear = Effect.fnUntraced(function* (key: string) {
    for (const one of held.values()) if (one.key === key) one.hasEnded = true
    const task = watched.get(key)
    watched.delete(key)
    if (task !== undefined) yield* wake(task)
  })

  return {
    /** Streams of the node's notifications, one per kind of payment. Each runs until the node closes it. */
    listens: [sender.ends, ...(offers === undefined ? [] : [offers.ends])].map((ends) =>
      Stream.runForEach(ends, (key) => Effect.uninterruptible(hear(key)))
    ),
    /**
     * Call this before looking up a payment under this claim, because from then on the payment may be reported
     * as final at any time.
     */
    hold: (task: Task, key: string) =>
      Effect.sync(() => {
        watched.delete(key)
        held.set(task.id, { key, hasEnded: false })
      }),
    /**
     * Releases the task until that time and watches its payment. If the payment has become final since, the
     * task is due immediately.
     */
    giveBack: Effect.fnUntraced(function* (
      task: Task,
      untilMillis: number,
      as?: { readonly kind: string; readonly lane: string }
    ) {
      yield* tasks.postpone(task, untilMillis, as)
      const one = held.get(task.id)
      if (one === undefined) return
      held.delete(task.id)
      if (one.hasEnded) return yield* wake(task)
      watched.set(one.key, task)
      const [oldest] = watched.keys()
      if (watched.size > maxWatched && oldest !== undefined) watched.delete(oldest)
    }),
    /** Forgets a task that is complete or is held by another process. */
    release: (task: Task) => Effect.sync(() => held.delete(task.id))
  }
})

export type PaymentEnds = Effect.Success<typeof make>
