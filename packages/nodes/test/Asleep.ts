import { Clock, Effect } from "effect"

/** The clock of a process whose machine has been suspended for `sleptMillis()`. */
export const clock = (sleptMillis: () => number) =>
  Effect.map(Clock.Clock, (live) => {
    const nowMillis = () => live.currentTimeMillisUnsafe() + sleptMillis()
    return Clock.Clock.of({
      sleep: (duration) => live.sleep(duration),
      currentTimeMillisUnsafe: nowMillis,
      currentTimeMillis: Effect.sync(nowMillis),
      currentTimeNanosUnsafe: () => live.currentTimeNanosUnsafe(),
      currentTimeNanos: live.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => live.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: live.monotonicTimeNanos
    })
  })
