import * as Measure from "@satrail/core/base/Measure"
import type { Words } from "@satrail/core/base/Outage"
import * as Outage from "@satrail/core/base/Outage"
import { isYoung } from "@satrail/core/base/ReadCache"
import { Cause, Clock, Context, Effect, Fiber, Layer, Metric, Option, Schema } from "effect"

/**
 * A dependency that this process needs to serve requests. `check` fails, dies or times out if it is
 * unavailable; its error can state a reason (`core/Outage`).
 */
export interface Check {
  readonly name: string
  readonly check: Effect.Effect<unknown, unknown>
  /** Whether the check concerns the process itself. The result of such a check is never cached. */
  readonly isOurs?: boolean
  /** Whether the process stays ready if the check fails, because it can still do most of its work. */
  readonly isOptional?: boolean
}

/** The checks that `/readyz` runs. */
export class Readiness extends Context.Service<Readiness, ReadonlyArray<Check>>()(
  "@satrail/http/api/Readiness"
) {}

/** Time limit for a check. A slower check fails. */
export const checkMillis = 2000
/**
 * The result of checking an external dependency is cached for this long, so frequent requests to `/readyz` do
 * not load the dependency.
 */
export const lookMillis = 1000

/** Result of a check: success, or a reason that may be made public. */
export interface Look extends Pick<Check, "name" | "isOptional"> {
  readonly reason: string | undefined
}

const ready = Measure.gauge("satrail_ready", "Result of a check of /readyz: 1 or 0", ["check"])

/** Reason if the check gives none: an outage without details, or an error in the check, which the log describes. */
const defaultReason = (error: unknown): string =>
  String(Object(error)._tag).endsWith("Unavailable")
    ? "no response"
    : "the check failed with an error; see the log"

const Said = Schema.Struct({ reason: Schema.String, remedy: Schema.optionalKey(Schema.String) })

/** Returns the reason in an error, if any. */
const wordsOf = (cause: Cause.Cause<unknown>): Words | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (Cause.isTimeoutError(error)) return { reason: `no response within ${checkMillis / 1000} seconds` }
  return Option.getOrUndefined(Schema.decodeUnknownOption(Said)({ ...Object(error) }))
}

const isHeldBy = (fiber: Fiber.Fiber<Look>) => fiber.pollUnsafe() === undefined

/**
 * Runs a check and logs when a failure begins and ends. A check of an external dependency runs at most once per
 * second and never concurrently, and concurrent callers share its result.
 */
const looking = Effect.fnUntraced(function* ({ name, check, isOurs, isOptional = false }: Check) {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const isReady = ready({ check: name })
  let before: string | undefined
  let newest: { readonly fiber: Fiber.Fiber<Look>; readonly beganMillis: number } | undefined

  const look: Effect.Effect<Look> = Effect.matchCauseEffect(Effect.timeout(check, checkMillis), {
    onSuccess: () =>
      Effect.suspend(() => {
        const told = before === undefined ? Effect.void : Effect.logInfo(`ready again: ${name}`)
        before = undefined
        return Effect.as(told, { name, isOptional, reason: undefined })
      }),
    onFailure: (cause) =>
      Effect.suspend(() => {
        const words = wordsOf(cause)
        const reason = words?.reason ?? defaultReason(Option.getOrUndefined(Cause.findErrorOption(cause)))
        const text = words && Outage.text(words)
        const isNew = before !== reason
        before = reason
        const told =
          text === undefined
            ? Effect.logWarning(`not ready: ${name}`, cause)
            : Effect.logWarning(`not ready: ${name}: ${text}`)
        return Effect.as(isNew ? told : Effect.void, { name, isOptional, reason })
      })
  }).pipe(Effect.tap(({ reason }) => Metric.update(isReady, reason === undefined ? 1 : 0)))

  if (isOurs === true) return look
  return Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
    if (
      newest === undefined ||
      (!isHeldBy(newest.fiber) && !isYoung(newest.beganMillis, nowMillis, lookMillis))
    ) {
      newest = { fiber: fork(look), beganMillis: nowMillis }
    }
    return Fiber.join(newest.fiber)
  })
})

/** The checks of this process, by name. */
export class Looks extends Context.Service<Looks, ReadonlyMap<string, Effect.Effect<Look>>>()(
  "@satrail/http/api/Readiness/Looks"
) {}

export const layer: Layer.Layer<Looks, never, Readiness> = Layer.effect(
  Looks,
  Effect.gen(function* () {
    const checks = yield* Readiness
    return new Map(
      yield* Effect.forEach(checks, (check) =>
        Effect.map(looking(check), (look) => [check.name, look] as const)
      )
    )
  })
)
