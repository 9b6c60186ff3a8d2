import { Console, Effect, Result } from "effect"
import * as Check from "../base/Check.ts"
import * as Checks from "../check/Checks.ts"
import * as Environment from "../deployment/Environment.ts"
import { Variables } from "../environment/Unknown.ts"

/**
 * Runs all checks. If the configuration is invalid, nothing else can be checked, so only its problems are
 * reported, one per line.
 */
const found = Effect.gen(function* () {
  const read = Environment.read(yield* Variables)
  if (Result.isSuccess(read)) return yield* Checks.all(read.success)
  const remedy = "docs/reference/configuration.md lists all variables."
  return read.failure.problems.map((problem): Check.Found => ({
    subject: "settings",
    isWatched: false,
    line: Check.misconfigured(problem, remedy)
  }))
})

const forPrograms = ({ subject, line }: Check.Found) => ({
  subject,
  result: line._tag === "Right" ? "ok" : line._tag === "Warning" ? "warning" : "wrong",
  message: line.says,
  ...(line._tag !== "Right" && { remedy: line.remedy })
})

/**
 * Checks everything the service needs and prints one line per check. Exits with 1 if a check fails. Changes
 * nothing.
 */
export const check = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const all = yield* found
  yield* Console.log(json ? JSON.stringify(all.map(forPrograms)) : all.map(Check.text).join("\n"))
  if (all.some(Check.isWrong))
    yield* Effect.sync(() => {
      process.exitCode = 1
    })
})
