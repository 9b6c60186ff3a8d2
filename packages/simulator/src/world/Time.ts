import { Effect, Duration } from "effect"
import type { Clock } from "effect/Clock"
import type { Host } from "./Turns.ts"

interface Sleeper {
  readonly atMillis: number
  readonly wake: () => void
}

/** Simulated time. */
export interface Time {
  readonly nowMillis: () => number
  /** Schedules a call. The returned function cancels it. */
  readonly after: (millis: number, wake: () => void) => () => void
  /** Returns the time of the next scheduled call, or undefined if there is none. */
  readonly next: () => number | undefined
  /** Sets the time and wakes all sleepers that are due. Time never moves backward. */
  readonly set: (atMillis: number) => void
  /** Returns the clock of a process, which may differ from the true time by `skewMillis`. */
  readonly clock: (host: Host, skewMillis: () => number) => Clock
}

const endless = 2 ** 52

export const make = (beginsAtMillis: number): Time => {
  let now = beginsAtMillis
  // Ordered by wake time, then by arrival.
  const sleepers: Array<Sleeper> = []

  const after = (millis: number, wake: () => void) => {
    const sleeper: Sleeper = { atMillis: now + Math.max(0, millis), wake }
    let at = sleepers.length
    for (; at > 0; at--) {
      const before = sleepers[at - 1]
      if (before === undefined || before.atMillis <= sleeper.atMillis) break
    }
    sleepers.splice(at, 0, sleeper)
    return () => {
      const found = sleepers.indexOf(sleeper)
      if (found >= 0) sleepers.splice(found, 1)
    }
  }

  return {
    nowMillis: () => now,
    after,
    next: () => sleepers[0]?.atMillis,
    set: (atMillis) => {
      now = Math.max(now, atMillis)
      for (let first = sleepers[0]; first !== undefined && first.atMillis <= now; first = sleepers[0]) {
        sleepers.shift()
        first.wake()
      }
    },
    clock: (host, skewMillis) => {
      const millis = () => now + skewMillis()
      const nanos = () => BigInt(millis()) * 1_000_000n
      return {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
        monotonicTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
        sleep: (duration) =>
          Effect.callback((resume) => {
            const millis = Math.ceil(Duration.toMillis(duration))
            if (host.isDead() || millis >= endless) return
            const cancel = after(millis, () => host.give(() => resume(Effect.void)))
            return Effect.sync(cancel)
          })
      }
    }
  }
}
