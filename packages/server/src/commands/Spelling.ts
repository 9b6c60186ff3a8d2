import { Effect } from "effect"
import { CommandFailed } from "../base/CommandFailed.ts"
import * as Unknown from "../environment/Unknown.ts"

/**
 * Rejects misspelled variables, since each would silently leave its default in place. `start` and `check`
 * report them with every other problem.
 */
export const ofAll = Effect.gen(function* () {
  const { unknown } = yield* Effect.promise(() => import("../deployment/Environment.ts"))
  const problems = unknown(yield* Unknown.Variables)
  if (problems.length > 0) return yield* new CommandFailed({ message: problems.join("\n") })
})

/**
 * Rejects misspelled variables for commands that only call a running service. The list of all settings loads
 * the adapters of databases and nodes, which takes longer than the call itself, so it is loaded only if a
 * variable looks misspelled.
 */
export const ofRemote = Effect.gen(function* () {
  if (Unknown.isSuspect(yield* Unknown.Variables, Unknown.ofClient)) yield* ofAll
})
