import { Effect, type Scope } from "effect"
import * as Load from "./Load.ts"
import * as Program from "./Program.ts"

/** Runs one load after the other. A load with a bad answer fails: its rate would mean nothing. */
export type Generator = (what: string, load: Load.Load) => Effect.Effect<Load.Outcome, Program.BenchFailed>

/** The generator in a process of its own, for as long as the scope is open. */
export const start: Effect.Effect<Generator, Program.BenchFailed, Scope.Scope> = Effect.map(
  Program.fork("loadProgram"),
  (program) => (what, load) =>
    Effect.flatMap(
      Effect.suspend(() => {
        program.child.send(load)
        return Program.message(program, Load.Outcome)
      }),
      (outcome) =>
        outcome.bad === 0
          ? Effect.succeed(outcome)
          : Effect.fail(
              new Program.BenchFailed({
                message: `${what}: ${outcome.bad} bad answers beside ${outcome.answered}; the first: ${outcome.firstBad}`
              })
            )
    )
)

const stall = { clients: 2, millis: 3000, warmupMillis: 200, requests: ["GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"] }

/** What the generator makes of a server that stands still for 300 ms every 1.5 s: an open loop must see it, a closed one hardly does. */
export const selfCheck = (
  generator: Generator
): Effect.Effect<{ readonly openMillis: number; readonly closedMillis: number }, Program.BenchFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { port } = yield* Program.server("stallingProgram")
      const open = yield* generator("self-check", { ...stall, port, perSecond: 500 })
      const closed = yield* generator("self-check", { ...stall, port })
      if (open.p99Millis < 200) {
        return yield* new Program.BenchFailed({
          message: `the generator is blind: a server stalled for 300 ms, and it reports a p99 of ${open.p99Millis.toFixed(0)} ms`
        })
      }
      return { openMillis: open.p99Millis, closedMillis: closed.p99Millis }
    })
  )
