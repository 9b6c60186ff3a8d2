import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, Result } from "effect"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { LogUnusable } from "./Log.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"

const dayMillis = 86_400_000

/** How far one command moves the clock, and how far all of them together. */
export const maxAdvanceDays = 366
export const maxAheadDays = 3660

/** The clock of a service on a simulated network: the machine's, and what it was advanced by. It never goes back. */
export class Time extends Context.Service<
  Time,
  {
    /** Shows that time. Sleeping takes as long as it says: what a request may take does not end because somebody moves the clock. */
    readonly clock: Clock.Clock
    /** Shows the same, and wakes who sleeps as soon as the moment has come, also because of an advance: for background workers. */
    readonly waking: Clock.Clock
    readonly aheadMillis: () => number
    /** Moves it forward, and answers how far it is ahead of the machine's in all. What is answered is kept. */
    readonly advance: (millis: number) => Effect.Effect<number, SandboxRefused>
  }
>()("@satrail/sandbox/Time") {}

/** The offset, in milliseconds, where the sandbox is kept. */
const fileIn = (directory: string) => path.join(directory, "clock")

const read = (directory: string): Effect.Effect<number, LogUnusable> =>
  Effect.try({
    try: () => {
      const text = existsSync(fileIn(directory)) ? readFileSync(fileIn(directory), "utf8").trim() : "0"
      if (!/^\d{1,15}$/.test(text) || Number(text) > maxAheadDays * dayMillis) throw new Error(`it says ${JSON.stringify(text)}`)
      return Number(text)
    },
    catch: (cause) => new LogUnusable({ directory, reason: `Its clock cannot be read: ${String(cause)}` })
  })

/** Written beside and moved into place, so that it is whole or not there. */
const write = (directory: string, aheadMillis: number): void => {
  mkdirSync(directory, { recursive: true })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${aheadMillis}\n`)
  renameSync(beside, fileIn(directory))
}

/** Begins at the machine's time, or where the sandbox in `directory` was. */
export const make = Effect.fnUntraced(function* (directory?: string) {
  const machine = yield* Clock.Clock
  let ahead = directory === undefined ? 0 : yield* read(directory)
  let moved = Deferred.makeUnsafe<void>()

  const millis = () => machine.currentTimeMillisUnsafe() + ahead
  const nanos = () => machine.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
  /** Passes as the machine's does, and faster by what the clock is advanced by. */
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
          return Effect.fromResult(refuse("out_of_range", `The clock moves forward, by at most ${maxAdvanceDays} days at once`))
        if (ahead + by > maxAheadDays * dayMillis)
          return Effect.fromResult(refuse("out_of_range", `The clock moves forward by at most ${maxAheadDays} days in all`))
        if (directory !== undefined) write(directory, ahead + by)
        ahead += by
        const before = moved
        moved = Deferred.makeUnsafe<void>()
        Deferred.doneUnsafe(before, Exit.void)
        return Effect.fromResult(Result.succeed(ahead))
      })
  })
})

/** The clock, for everything that is built above it. */
export const layer = (directory?: string): Layer.Layer<Time, LogUnusable> =>
  Layer.effectContext(Effect.map(make(directory), (time) => Context.make(Time, time).pipe(Context.add(Clock.Clock, time.clock))))
