import { Effect } from "effect"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Unknown from "../environment/Unknown.ts"

/**
 * Rejects misspelled variables, because each would silently leave a default in effect. `start` and `check`
 * report misspelled variables together with all other problems.
 */
export const ofAll = Effect.gen(function* () {
  const { unknown } = yield* Effect.promise(() => import("../deployment/Environment.ts"))
  const problems = unknown(yield* Unknown.Variables)
  if (problems.length > 0) return yield* new CommandFailed({ message: problems.join("\n") })
})

/**
 * Rejects misspelled variables for commands that only call a running service. Loading the list of all settings
 * also loads the adapters of databases and nodes, which takes longer than the call itself. So it is loaded only
 * if a variable looks misspelled.
 */
export const ofRemote = Effect.gen(function* () {
  if (Unknown.isSuspect(yield* Unknown.Variables, Unknown.ofClient)) yield* ofAll
})
