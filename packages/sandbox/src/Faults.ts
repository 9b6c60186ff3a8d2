import { Clock, Context, Effect, FiberMap, Schema } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** Parts that can fail: the Lightning node, the chain, external servers, the exchange rates, the database. */
export const What = Schema.Literals(["node", "chain", "web", "rates", "database"])
export type What = typeof What.Type

/** Maximum duration of a fault, in seconds. */
export const maxFaultSeconds = 3600

export interface Fault {
  readonly what: What
  /** Time at which the fault ends automatically. */
  readonly endsAtMillis: number
}

/** Temporary outages. A restart ends all of them. */
export class Faults extends Context.Service<
  Faults,
  {
    /** Starts an outage, or changes the end of a current one. Fails if the part is real. */
    readonly begin: (what: What, seconds: number) => Effect.Effect<Fault, SandboxRefused>
    /** Ends a part's outage, if any. */
    readonly end: (what: What) => Effect.Effect<void>
    /** Returns the current outages. */
    readonly all: Effect.Effect<ReadonlyArray<Fault>>
  }
>()("@satrail/sandbox/Faults") {}

/** A switch for each simulated part that makes it unavailable or available again. Real parts have no switch. */
export type Parts = { readonly [what in What]?: ((isAway: boolean) => Effect.Effect<void>) | undefined }

/**
 * Controls the faults of these parts for as long as the scope is open. Faults end according to the clock in the
 * context.
 */
export const make = Effect.fnUntraced(function* (parts: Parts) {
  const clock = yield* Clock.Clock
  const ends = yield* FiberMap.make<What>()
  const faults = new Map<What, Fault>()

  /** Do nothing if another fault has replaced this one. */
  const over = (fault: Fault) =>
    Effect.suspend(() => {
      if (faults.get(fault.what) !== fault) return Effect.void
      faults.delete(fault.what)
      return parts[fault.what]?.(false) ?? Effect.void
    })

  return Faults.of({
    begin: (what, seconds) =>
      Effect.gen(function* () {
        const set = parts[what]
        if (set === undefined)
          return yield* Effect.fromResult(
            refuse("not_ours", `The ${what} is real, so faults cannot be injected`)
          )
        if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxFaultSeconds)
          return yield* Effect.fromResult(
            refuse("out_of_range", `seconds must be between 1 and ${maxFaultSeconds}`)
          )
        const fault = { what, endsAtMillis: clock.currentTimeMillisUnsafe() + seconds * 1000 }
        faults.set(what, fault)
        yield* set(true)
        const ending = Effect.andThen(Effect.interruptible(Effect.sleep(seconds * 1000)), over(fault))
        yield* FiberMap.run(ends, what, Effect.provideService(ending, Clock.Clock, clock))
        return fault
      }).pipe(Effect.uninterruptible),
    end: (what) =>
      Effect.suspend(() => {
        const fault = faults.get(what)
        return fault === undefined ? Effect.void : Effect.andThen(FiberMap.remove(ends, what), over(fault))
      }).pipe(Effect.uninterruptible),
    all: Effect.sync(() => [...faults.values()])
  })
})
