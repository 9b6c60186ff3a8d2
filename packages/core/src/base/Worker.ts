import { Effect, type Scope } from "effect"
import * as Outage from "./Outage.ts"

const maxPauseMillis = 30_000

const forever = <E, R>(
  name: string,
  step: Effect.Effect<unknown, E, R>,
  pause: Effect.Effect<unknown>
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
        reason === undefined ? Effect.logError(`${name}: failed; will retry`, cause) : Effect.logWarning(`${name}: waiting: ${reason}`)
      return Effect.andThen(isKnown ? Effect.void : told, Effect.sleep(Math.min(maxPauseMillis, 250 * 2 ** Math.min(failures, 10))))
    }
  })
  return Effect.asVoid(Effect.forkScoped(Effect.annotateLogs(Effect.forever(once), { worker: name })))
}

/**
 * Takes one step after another until the scope closes, waiting for `pause` in between. A step is never cut in half: what has begun is finished before
 * the worker stops. A step that fails or breaks is logged (an outage that says why, once) and tried again, after a pause that grows as long as it keeps failing.
 */
export const run = <E, R>(name: string, step: Effect.Effect<unknown, E, R>, pause: Effect.Effect<unknown>) =>
  forever(name, Effect.uninterruptible(step), pause)

/** The same for a step that goes on for as long as nothing breaks, such as listening. It can be stopped at any time, and itself says where it must not. */
export const runOpen = forever
