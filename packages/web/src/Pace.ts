import { Effect, Semaphore } from "effect"
import { performance } from "node:perf_hooks"
import { setTimeout } from "node:timers/promises"

// Webhooks may be delayed, but responses may not, and the same thread sends both. So webhooks are sent as fast
// as possible while that thread has idle time. Otherwise they are sent at a pace that hardly slows the thread
// down and still delivers all of them.

/** Deliveries started per second: the minimum, which applies even if the thread has no idle time, and the maximum. */
export const perSecond = { least: 50, most: 2000 } as const

/** Utilization at or above which a process counts as busy. */
export const busy = 0.9

/**
 * Interval at which the pace is adjusted. It drops to a quarter if the process was busy, and otherwise rises by
 * one step.
 */
export const watchedMillis = 100
export const step = 200

/** Maximum timer delay that is compensated: deliveries that became due during the delay start immediately. */
const lateMillis = 10

/** Measurements of the process. */
export interface Watch {
  readonly nowMillis: () => number
  /** Thread utilization since the last call, from 0 to 1. */
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

/**
 * Creates an effect that waits for the next turn to do work that can be deferred. Turns are granted in request order.
 * The wait can be interrupted, even in an uninterruptible region.
 */
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
    // Unused turns do not accumulate.
    next = Math.max(next, now - lateMillis) + 1000 / rate
    const millis = next - now
    return millis < 1 ? Effect.void : Effect.promise(() => wait(millis))
  })
  return Effect.interruptible(line.withPermits(1)(turn))
}
