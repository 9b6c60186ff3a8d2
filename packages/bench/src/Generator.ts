import { Effect, type Scope } from "effect"
import * as Load from "./Load.ts"
import * as Program from "./Program.ts"

/** Runs a load. Fails if any response is bad, because the rate would then be meaningless. */
export type Generator = (load: Load.Load) => Effect.Effect<Load.Outcome, Program.BenchFailed>

/** Starts a load generator in its own process. */
export const start: Effect.Effect<Generator, Program.BenchFailed, Scope.Scope> = Effect.map(
  Program.fork("loadProgram"),
  (program) => (load) =>
    Effect.flatMap(Program.ask(program, load, Load.Outcome), (outcome) => {
      const { bad, answered, firstBad } = outcome
      if (bad === 0) return Effect.succeed(outcome)
      return Effect.fail(new Program.BenchFailed({ message: `${bad} bad responses and ${answered} good ones; the first: ${firstBad}` }))
    })
)
