import { Clock, Effect, Stream } from "effect"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import * as OfferSender from "../nodes/OfferSender.ts"

// A node has a few hundred payments on their way through each of its channels at most. What is watched beyond this, only look-ups find.
const maxWatched = 20_000

/** Subscribes to the node's notifications of ended payments, and makes those due that this process released: no wait for the next look-up. */
export const make = Effect.gen(function* () {
  const sender = yield* LightningSender
  const offers = yield* OfferSender.available
  const tasks = yield* Tasks
  /** What this process holds: which payment, by what the node knows it by, and whether its end was notified meanwhile. */
  const held = new Map<string, { readonly key: string; hasEnded: boolean }>()
  /** What it gave back, by the same, under the claim that it had; the oldest first. */
  const watched = new Map<string, Task>()

  /** It is due at once, unless another process has claimed it since, which is notified itself. */
  const wake = (task: Task) => Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => Effect.asVoid(tasks.postpone(task, nowMillis)))

  const hear = Effect.fnUntraced(function* (key: string) {
    for (const one of held.values()) if (one.key === key) one.hasEnded = true
    const task = watched.get(key)
    watched.delete(key)
    if (task !== undefined) yield* wake(task)
  })

  return {
    /** Follows the node's notices until they break off: one for each kind of payment. */
    listens: [sender.ends, ...(offers === undefined ? [] : [offers.ends])].map((ends) =>
      Stream.runForEach(ends, (key) => Effect.uninterruptible(hear(key)))
    ),
    /** Called before a look-up of a payment under this claim: from here on it may end at any time. */
    hold: (task: Task, key: string) =>
      Effect.sync(() => {
        watched.delete(key)
        held.set(task.id, { key, hasEnded: false })
      }),
    /** Gives the task back until then, and watches its payment; one that has ended since is due at once. */
    giveBack: Effect.fnUntraced(function* (task: Task, untilMillis: number, as?: { readonly kind: string; readonly lane: string }) {
      yield* tasks.postpone(task, untilMillis, as)
      const one = held.get(task.id)
      if (one === undefined) return
      held.delete(task.id)
      if (one.hasEnded) return yield* wake(task)
      watched.set(one.key, task)
      const [oldest] = watched.keys()
      if (watched.size > maxWatched && oldest !== undefined) watched.delete(oldest)
    }),
    /** The task has ended, or is another process's. */
    release: (task: Task) => Effect.sync(() => held.delete(task.id))
  }
})

export type PaymentEnds = Effect.Success<typeof make>
