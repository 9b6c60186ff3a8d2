import { Clock, Context, Effect, Latch, Layer, type Scope, Stream } from "effect"
import * as Listeners from "../base/Listeners.ts"
import * as Worker from "../base/Worker.ts"
import type { Any } from "./Change.ts"
import { Journal } from "./Journal.ts"
import { type Signal, Signals } from "./Signals.ts"
import { Tasks } from "./Tasks.ts"

/**
 * Maximum time between two polls of the store when idle. Work from this process and signals from others wake a
 * worker immediately, so only work whose signal was lost waits that long.
 */
export const PollMillis = Context.Reference<number>("@satrail/core/ledger/Wakes/PollMillis", {
  defaultValue: () => 5000
})

/** Topics in addition to the kinds of tasks: committed events, and entries of the audit log. */
export const topics = { event: "committed event", audit: "audit entry" } as const

// After a poll that found due work, the next one follows after `first`. While nothing is due, the pause
// doubles. The store is also polled when work becomes due. Workers are woken by that poll, not by the clock,
// because by then the work may already be done or postponed, like a role whose lease another process renews.
// Reported due times are rounded up to multiples of `least`, so few of them are kept until the next poll.
const pauseMillis = { least: 20, first: 250 } as const

/** Wakes workers when there is work. */
export class Wakes extends Context.Service<
  Wakes,
  {
    /** Reports work for a topic. Other processes are notified if no worker of this process listens to the topic. */
    readonly note: (...signals: ReadonlyArray<Signal>) => Effect.Effect<void>
    /** Reports work for a topic, and always notifies other processes. */
    readonly tell: (...signals: ReadonlyArray<Signal>) => Effect.Effect<void>
    /**
     * Returns an effect that waits until there may be new work since it last returned. Listens until the
     * scope closes.
     */
    readonly listen: (topic: string) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@satrail/core/ledger/Wakes") {}

const isPolled = (topic: string) => topic !== topics.event && topic !== topics.audit

/** Wakes the listeners of topics at the given times. */
const ringing = Effect.fnUntraced(function* (wake: (topic: string) => void) {
  const due = new Map<number, Set<string>>()
  const changed = yield* Latch.make(false)
  const ring = Effect.gen(function* () {
    yield* changed.close
    const nowMillis = yield* Clock.currentTimeMillis
    for (const [atMillis, woken] of due) {
      if (atMillis > nowMillis) continue
      due.delete(atMillis)
      for (const one of woken) wake(one)
    }
    if (due.size === 0) return yield* changed.await
    yield* Effect.raceFirst(changed.await, Effect.sleep(Math.min(...due.keys()) - nowMillis))
  })
  yield* Effect.forkScoped(Effect.forever(ring))
  return (topic: string, atMillis: number): void => {
    const ringMillis = Math.ceil(atMillis / pauseMillis.least) * pauseMillis.least
    const others = due.get(ringMillis)
    if (others !== undefined) return void others.add(topic)
    due.set(ringMillis, new Set([topic]))
    changed.openUnsafe()
  }
})

export const make = Effect.gen(function* () {
  const tasks = yield* Tasks
  const signals = yield* Signals
  const longestMillis = yield* PollMillis
  const isWanted = yield* Latch.make(false)
  const {
    topics: listened,
    has,
    wake,
    listen
  } = Listeners.make({ isReady: false, joined: () => isWanted.openUnsafe() })
  const ringAt = yield* ringing(wake)

  /** Returns whether the next poll finds work before it is due. */
  const isLater = (atMillis: number, nowMillis: number) => atMillis > nowMillis + longestMillis

  const hear = (topic: string, atMillis: number, nowMillis: number): void => {
    if (!has(topic)) return
    if (atMillis <= nowMillis) return wake(topic)
    if (!isLater(atMillis, nowMillis)) ringAt(topic, atMillis)
  }

  const noting =
    (isToldAlways: boolean) =>
    (...noted: ReadonlyArray<Signal>) =>
      Effect.clockWith((clock) => {
        const nowMillis = clock.currentTimeMillisUnsafe()
        for (const signal of noted) {
          const { topic, atMillis } = signal
          if (isLater(atMillis, nowMillis)) continue
          if (isToldAlways || topic === topics.event || !has(topic)) signals?.send(signal)
          hear(topic, atMillis, nowMillis)
        }
        return Effect.void
      })

  let grown: number = pauseMillis.first
  let pause: number = pauseMillis.first
  const look = Effect.gen(function* () {
    yield* isWanted.close
    const asked = listened().filter(isPolled)
    if (asked.length === 0) return yield* isWanted.await
    const found = yield* tasks.dueAt(asked)
    const nowMillis = yield* Clock.currentTimeMillis
    let next = Infinity
    for (const topic of asked) {
      const leftMillis = (found.get(topic) ?? Infinity) - nowMillis
      if (leftMillis <= 0) wake(topic)
      next = Math.min(next, leftMillis)
    }
    grown = next <= 0 ? pauseMillis.first : Math.min(2 * grown, longestMillis)
    pause = Math.max(pauseMillis.first, Math.min(grown, next))
  })
  const moment = Effect.suspend(() =>
    Effect.raceFirst(isWanted.await, Effect.sleep(pause - pauseMillis.least))
  )
  yield* Worker.runOpen("work that is due", look, Effect.andThen(Effect.sleep(pauseMillis.least), moment))

  if (signals !== undefined) {
    yield* Effect.forkScoped(
      Stream.runForEach(signals.received, (signal) =>
        Effect.map(Clock.currentTimeMillis, (nowMillis) => {
          // A signal combines several due times of a topic, or is lost, so ask the store for the others.
          if (signal === null || (signal.atMillis > nowMillis && isPolled(signal.topic)))
            isWanted.openUnsafe()
          if (signal !== null) return hear(signal.topic, signal.atMillis, nowMillis)
          for (const topic of listened()) hear(topic, nowMillis, nowMillis)
        })
      )
    )
  }

  return Wakes.of({
    note: noting(false),
    tell: noting(true),
    listen
  })
})

export const layer = Layer.effect(Wakes, make)

/** Returns the signals for the work that a Change enqueues, except work that the enqueuing process has claimed. */
const signalsOf = ({
  atMillis,
  event,
  eventsForOthers = [],
  audit,
  jobs = []
}: Any): ReadonlyArray<Signal> => [
  ...(event === undefined && eventsForOthers.length === 0 ? [] : [{ topic: topics.event, atMillis }]),
  ...(audit === undefined ? [] : [{ topic: topics.audit, atMillis }]),
  ...jobs.flatMap((job) =>
    job._tag === "Enqueue" && job.claimedBy === undefined
      ? [{ topic: job.kind, atMillis: job.dueAtMillis }]
      : []
  )
]

/** A Journal that wakes the workers for the work that each Change enqueues. */
export const layerJournal = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journal = yield* Journal
    const { note } = yield* Wakes
    return Journal.of({
      commit: (change) => {
        const signals = signalsOf(change)
        return signals.length === 0
          ? journal.commit(change)
          : Effect.tap(journal.commit(change), note(...signals))
      }
    })
  })
)

/** A Tasks service that wakes workers when a task is released. */
export const layerTasks = Layer.effect(
  Tasks,
  Effect.gen(function* () {
    const tasks = yield* Tasks
    const { note } = yield* Wakes
    return Tasks.of({
      ...tasks,
      postpone: (task, untilMillis, as) =>
        Effect.tap(tasks.postpone(task, untilMillis, as), (isKept) =>
          isKept ? note({ topic: as?.kind ?? task.kind, atMillis: untilMillis }) : Effect.void
        )
    })
  })
)
