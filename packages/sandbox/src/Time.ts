import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, Result } from "effect"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { LogUnusable } from "./Log.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"

const dayMillis = 86_400_000

/** Maximum advance of the clock per command, and in total. */
export const maxAdvanceDays = 366
export const maxAheadDays = 3660

/**
 * The clock of a service on a simulated network: the machine's time plus all advances. It never moves
 * backward.
 */
export class Time extends Context.Service<
  Time,
  {
    /**
     * Shows the advanced time, but sleeps in real time, so that advancing the clock does not affect a request's
     * timeout.
     */
    readonly clock: Clock.Clock
    /**
     * Shows the same time, and wakes sleepers as soon as they are due, even if an advance makes them due. For
     * background workers.
     */
    readonly waking: Clock.Clock
    readonly aheadMillis: () => number
    /** Moves the clock forward. Stores and returns the total offset from the machine's time. */
    readonly advance: (millis: number) => Effect.Effect<number, SandboxRefused>
  }
>()("@satrail/sandbox/Time") {}

/** Stores the offset, in milliseconds, with the sandbox. */
const fileIn = (directory: string) => path.join(directory, "clock")

const read = (directory: string): Effect.Effect<number, LogUnusable> =>
  Effect.try({
    try: () => {
      const text = existsSync(fileIn(directory)) ? readFileSync(fileIn(directory), "utf8").trim() : "0"
      if (!/^\d{1,15}$/.test(text) || Number(text) > maxAheadDays * dayMillis)
        throw new Error(`the file contains ${JSON.stringify(text)}`)
      return Number(text)
    },
    catch: (cause) => new LogUnusable({ directory, reason: `Its clock cannot be read: ${String(cause)}` })
  })

/** Writes a temporary file and renames it, so that the stored file is complete or missing. */
const write = (directory: string, aheadMillis: number): void => {
  mkdirSync(directory, { recursive: true })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${aheadMillis}\n`)
  renameSync(beside, fileIn(directory))
}

/** Starts at the machine's time, or at the stored offset of the sandbox in `directory`. */
export const make = Effect.fnUntraced(function* (directory?: string) {
  const machine = yield* Clock.Clock
  let ahead = directory === undefined ? 0 : yield* read(directory)
  let moved = Deferred.makeUnsafe<void>()

  const millis = () => machine.currentTimeMillisUnsafe() + ahead
  const nanos = () => machine.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
  /** Monotonic time including all advances. */
  const passed = () => Number(machine.monotonicTimeNanosUnsafe()) / 1e6 + ahead

  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: machine.monotonicTimeNanos,
    sleep: (duration) => machine.sleep(duration)
  }

  const sleepUntil = (untilMillis: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = untilMillis - passed()
      if (left <= 0) return machine.sleep(Duration.zero)
      const hears = Effect.flatMap(Deferred.await(moved), () => sleepUntil(untilMillis))
      return Effect.raceFirst(machine.sleep(Duration.millis(left)), hears)
    })

  return Time.of({
    clock,
    waking: {
      ...clock,
      sleep: (duration) => Effect.suspend(() => sleepUntil(passed() + Duration.toMillis(duration)))
    },
    aheadMillis: () => ahead,
    advance: (by) =>
      Effect.suspend(() => {
        if (!Number.isInteger(by) || by < 1 || by > maxAdvanceDays * dayMillis)
          return Effect.fromResult(
            refuse(
              "out_of_range",
              `The clock can only move forward, by at most ${maxAdvanceDays} days per request`
            )
          )
        if (ahead + by > maxAheadDays * dayMillis)
          return Effect.fromResult(
            refuse("out_of_range", `The clock can move forward by at most ${maxAheadDays} days in total`)
          )
        if (directory !== undefined) write(directory, ahead + by)
        ahead += by
        const before = moved
        moved = Deferred.makeUnsafe<void>()
        Deferred.doneUnsafe(before, Exit.void)
        return Effect.fromResult(Result.succeed(ahead))
      })
  })
})

/** The clock for all layers above it. */
export const layer = (directory?: string): Layer.Layer<Time, LogUnusable> =>
  Layer.effectContext(
    Effect.map(make(directory), (time) => Context.make(Time, time).pipe(Context.add(Clock.Clock, time.clock)))
  )
