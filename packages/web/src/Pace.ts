import { Effect, Semaphore } from "effect"
import { performance } from "node:perf_hooks"
import { setTimeout } from "node:timers/promises"

// Webhooks may be late, and answers may not: they are sent by the thread that answers. So they go out as fast as they can while that thread has time
// to spare, and where it has none, at a pace that it hardly feels and at which every one of them arrives in the end.

/** How many begin in a second: at least, also while the process has no time at all, and at most. */
export const perSecond = { least: 50, most: 2000 } as const

/** From which part of its time on a process counts as busy. */
export const busy = 0.9

/** How long a process is watched before the pace changes: a quarter of it where it was busy, a step more where it was not. */
export const watchedMillis = 100
export const step = 200

/** How late a timer may be: what was not begun meanwhile is begun at once. */
const lateMillis = 10

/** The process as it is seen from here. */
export interface Watch {
  readonly nowMillis: () => number
  /** The part of the time since it was asked last in which the thread was busy: 0 to 1. */
  readonly utilization: () => number
  readonly wait: (millis: number) => Promise<void>
}

const ofThisProcess = (): Watch => {
  let before = performance.eventLoopUtilization()
  return {
    nowMillis: () => performance.now(),
    utilization: () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    wait: (millis) => setTimeout(millis)
  }
}

/** What can wait asks for a turn, and begins when it has it. Turns come in the order in which they were asked for. */
export const make = ({ nowMillis, utilization, wait }: Watch = ofThisProcess()): Effect.Effect<void> => {
  const line = Semaphore.makeUnsafe(1)
  let rate: number = perSecond.most
  let next = nowMillis()
  let watchedSince = next

  const watch = (now: number) => {
    if (now - watchedSince < watchedMillis) return
    watchedSince = now
    rate = utilization() >= busy ? Math.max(perSecond.least, rate / 4) : Math.min(perSecond.most, rate + step)
  }

  const turn = Effect.suspend(() => {
    const now = nowMillis()
    watch(now)
    // What was not used is not saved up.
    next = Math.max(next, now - lateMillis) + 1000 / rate
    const millis = next - now
    return millis < 1 ? Effect.void : Effect.promise(() => wait(millis))
  })
  return line.withPermits(1)(turn)
}
