import * as Measure from "@satrail/core/base/Measure"
import type { Words } from "@satrail/core/base/Outage"
import * as Outage from "@satrail/core/base/Outage"
import { Cause, Clock, Context, Effect, Fiber, Layer, Metric, Option, Schema } from "effect"

/** Something this process cannot serve without. `check` fails, breaks or takes too long when it is not there; an error may say why (`core/Outage`). */
export interface Check {
  readonly name: string
  readonly check: Effect.Effect<unknown, unknown>
  /** It checks the process itself: it runs each time, and its result is current. */
  readonly isOurs?: boolean
}

/** What `/readyz` asks. */
export class Readiness extends Context.Service<Readiness, ReadonlyArray<Check>>()("@satrail/http/api/Readiness") {}

/** A check that has not answered after this long has failed. */
export const checkMillis = 2000
/** A look at something outside is good for so long: however often `/readyz` is asked, it is asked no more often than this. */
export const lookMillis = 1000

/** What a look found: nothing is wrong, or the reason, which anybody may read. */
export interface Look {
  readonly name: string
  readonly reason: string | undefined
}

const ready = Measure.gauge("satrail_ready", "Result of a check of /readyz: 1 or 0", ["check"])

const unsaid = "it does not answer as it should"

const Said = Schema.Struct({ reason: Schema.String, remedy: Schema.optionalKey(Schema.String) })

/** The words of an error, where it has any. */
const wordsOf = (cause: Cause.Cause<unknown>): Words | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (Cause.isTimeoutError(error)) return { reason: `it does not answer within ${checkMillis / 1000} seconds` }
  return Option.getOrUndefined(Schema.decodeUnknownOption(Said)({ ...Object(error) }))
}

const isHeldBy = (fiber: Fiber.Fiber<Look>) => fiber.pollUnsafe() === undefined

/** Checks once a second at most, one check at a time; concurrent callers get the same result. Logs the beginning and the end of a failure. */
const looking = Effect.fnUntraced(function* ({ name, check, isOurs }: Check) {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const isReady = ready({ check: name })
  let before: string | undefined
  let newest: { readonly fiber: Fiber.Fiber<Look>; readonly beganMillis: number } | undefined

  const look: Effect.Effect<Look> = Effect.matchCauseEffect(Effect.timeout(check, checkMillis), {
    onSuccess: () =>
      Effect.suspend(() => {
        const told = before === undefined ? Effect.void : Effect.logInfo(`ready again: ${name}`)
        before = undefined
        return Effect.as(told, { name, reason: undefined })
      }),
    onFailure: (cause) =>
      Effect.suspend(() => {
        const words = wordsOf(cause)
        const reason = words?.reason ?? unsaid
        const text = words && Outage.text(words)
        const isNew = before !== reason
        before = reason
        const told = text === undefined ? Effect.logWarning(`not ready: ${name}`, cause) : Effect.logWarning(`not ready: ${name}: ${text}`)
        return Effect.as(isNew ? told : Effect.void, { name, reason })
      })
  }).pipe(Effect.tap(({ reason }) => Metric.update(isReady, reason === undefined ? 1 : 0)))

  if (isOurs === true) return look
  return Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
    if (newest === undefined || (!isHeldBy(newest.fiber) && nowMillis - newest.beganMillis >= lookMillis)) {
      newest = { fiber: fork(look), beganMillis: nowMillis }
    }
    return Fiber.join(newest.fiber)
  })
})

/** One look at each thing that this process needs, by its name. */
export class Looks extends Context.Service<Looks, ReadonlyMap<string, Effect.Effect<Look>>>()("@satrail/http/api/Readiness/Looks") {}

export const layer: Layer.Layer<Looks, never, Readiness> = Layer.effect(
  Looks,
  Effect.gen(function* () {
    const checks = yield* Readiness
    return new Map(yield* Effect.forEach(checks, (check) => Effect.map(looking(check), (look) => [check.name, look] as const)))
  })
)
