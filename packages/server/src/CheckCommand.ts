import { Console, Effect, Result } from "effect"
import { Command } from "effect/cli"
import * as Check from "./check/Check.ts"
import * as Checks from "./check/Checks.ts"
import * as Environment from "./Environment.ts"
import * as Operate from "./Operate.ts"

/** A configuration that cannot be read is wrong in as many lines as there are problems, and nothing else can be looked at. */
const found = Effect.suspend((): Effect.Effect<ReadonlyArray<Check.Found>> => {
  const read = Environment.read(process.env)
  if (Result.isSuccess(read)) return Checks.all(read.success)
  const remedy = "docs/reference/configuration.md has every variable."
  return Effect.succeed(
    read.failure.problems.map((problem) => ({ subject: "settings", isWatched: false, line: Check.misconfigured(problem, remedy) }))
  )
})

const forPrograms = ({ subject, line }: Check.Found) => ({
  subject,
  result: line._tag === "Right" ? "ok" : line._tag === "Warning" ? "warning" : "wrong",
  message: line.says,
  ...(line._tag !== "Right" && { remedy: line.remedy })
})

/** Looks at everything that the service needs, a line each. Ends with 1 where something is wrong. Changes nothing. */
export const check = Command.make("check", { json: Operate.json }, ({ json }) =>
  Effect.gen(function* () {
    const all = yield* found
    yield* Console.log(json ? JSON.stringify(all.map(forPrograms)) : all.map(Check.text).join("\n"))
    if (all.some(Check.isWrong))
      yield* Effect.sync(() => {
        process.exitCode = 1
      })
  })
).pipe(
  Command.withDescription("Check the configuration, the database, the nodes, the wallet and the domain, before or beside a running service")
)
