import { Clock, Context, Effect, FiberMap, Schema } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** What can be away: the Lightning node, the chain, other people's servers, the exchange rates, the database. */
export const What = Schema.Literals(["node", "chain", "web", "rates", "database"])
export type What = typeof What.Type

/** The longest fault. */
export const maxFaultSeconds = 3600

export interface Fault {
  readonly what: What
  /** When it ends by itself. */
  readonly endsAtMillis: number
}

/** Outages, each for a while. A restart ends all of them. */
export class Faults extends Context.Service<
  Faults,
  {
    /** Begins an outage, or gives the one that there is another end. Refuses what is real here. */
    readonly begin: (what: What, seconds: number) => Effect.Effect<Fault, SandboxRefused>
    /** Ends one, if there is one. */
    readonly end: (what: What) => Effect.Effect<void>
    /** Those that there are. */
    readonly all: Effect.Effect<ReadonlyArray<Fault>>
  }
>()("@satrail/sandbox/Faults") {}

/** How each part is made to be away, and back again. A part that is real has no entry. */
export type Parts = { readonly [what in What]?: ((isAway: boolean) => Effect.Effect<void>) | undefined }

/** Faults of these parts, for as long as the scope is open. They end by the clock that surrounds this. */
export const make = Effect.fnUntraced(function* (parts: Parts) {
  const clock = yield* Clock.Clock
  const ends = yield* FiberMap.make<What>()
  const faults = new Map<What, Fault>()

  /** Unless another one took its place meanwhile. */
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
        if (set === undefined) return yield* Effect.fromResult(refuse("not_ours", `The ${what} is real here: it has no faults`))
        if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxFaultSeconds)
          return yield* Effect.fromResult(refuse("out_of_range", `A fault lasts 1 to ${maxFaultSeconds} seconds`))
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
