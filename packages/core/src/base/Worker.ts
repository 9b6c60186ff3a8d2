import { Effect, type Scope } from "effect"
import * as Outage from "./Outage.ts"

const maxPauseMillis = 30_000
// After this, the end of the usual pause, such as a signal of new work, also ends the pause after a failure. A
// worker thus goes on soon after an outage, and many signals during it do not cause many attempts.
const deafMillis = 5000

const forever = <E, R>(
  name: string,
  step: Effect.Effect<unknown, E, R>,
  pause: Effect.Effect<unknown>,
  longestMillis = maxPauseMillis
): Effect.Effect<void, never, R | Scope.Scope> => {
  let failures = 0
  let outage: string | undefined
  const once = Effect.matchCauseEffect(step, {
    onSuccess: () => {
      failures = 0
      outage = undefined
      return pause
    },
    onFailure: (cause) => {
      failures++
      const reason = Outage.reasonOf(cause)
      const isKnown = reason !== undefined && reason === outage
      outage = reason
      const told =
        reason === undefined
          ? Effect.logError(`${name}: failed; will retry`, cause)
          : Effect.logWarning(`${name}: waiting: ${reason}`)
      const millis = Math.min(longestMillis, 250 * 2 ** Math.min(failures, 10))
      const early = Effect.andThen(Effect.sleep(Math.min(millis, deafMillis)), pause)
      return Effect.andThen(isKnown ? Effect.void : told, Effect.raceFirst(Effect.sleep(millis), early))
    }
  })
  return Effect.asVoid(Effect.forkScoped(Effect.annotateLogs(Effect.forever(once), { worker: name })))
}

/**
 * Repeats a step until the scope closes, with `pause` in between. A step is never interrupted: it finishes
 * before the worker stops. A step that fails or throws is logged and retried with exponential backoff.
 * Repeated outages with the same reason are logged once.
 */
export const run = <E, R>(name: string, step: Effect.Effect<unknown, E, R>, pause: Effect.Effect<unknown>) =>
  forever(name, Effect.uninterruptible(step), pause)

/**
 * Repeats a step that runs until it fails, such as listening. The step can be interrupted at any time, so it
 * must itself mark the parts that must not be interrupted. `longestMillis` is the longest pause after failures.
 */
export const runOpen = forever
